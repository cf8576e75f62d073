package io.mutex;

/**
 * A lease was lost while the protected work ran.
 *
 * @param lease the lease
 * @param reason why, for people
 */
public record LeaseLostEvent(Lease lease, String reason) {

}
