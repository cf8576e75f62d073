package io.mutex.protocol;

import io.mutex.run.Owner;
import io.mutex.run.RunRecord;
import io.mutex.run.RunRecord.Status;
import org.jspecify.annotations.Nullable;

/**
 * What a store keeps of one unit of one key. Times are microseconds since 1970 by the
 * store's clock.
 *
 * @param unit the unit
 * @param status how its latest run ended
 * @param token the token of that run
 * @param nonce the nonce of that run
 * @param owner who ran it
 * @param attempt how many attempts have begun
 * @param began when that run's lease was granted
 * @param ended when its end was stored
 * @param notBefore the earliest time of the next attempt, or 0
 * @param error the failure, or {@code null}
 * @param keptUntil until when the row is kept at least, {@link LockRow#NEVER} for ever
 */
public record RunRow(String unit, Status status, long token, String nonce, Owner owner, int attempt, long began,
		long ended, long notBefore, @Nullable String error, long keptUntil) {

	static RunRow ended(LockRow lock, String unit, Status status, long now, long notBefore, @Nullable String error) {
		return new RunRow(unit, status, lock.token(), lock.nonce(), lock.owner(), lock.attempt(), lock.acquiredAt(),
				now, notBefore, error, lock.keptUntil());
	}

	/**
	 * The row as the core knows it.
	 * @param key the key of the row
	 * @return the record
	 */
	public RunRecord toRecord(String key) {
		return new RunRecord(key, this.unit, this.status, this.token, this.owner, Math.max(1, this.attempt),
				Micros.toInstant(this.began), Micros.toInstant(this.ended),
				(this.notBefore > 0) ? Micros.toInstant(this.notBefore) : null, this.error);
	}

	/**
	 * One letter for each status, the form in which stores keep it.
	 * @return {@code D}, {@code F} or {@code X}
	 */
	public String statusCode() {
		return codeOf(this.status);
	}

	/**
	 * The stored letter of a status.
	 * @param status the status
	 * @return {@code D}, {@code F} or {@code X}
	 */
	public static String codeOf(Status status) {
		return switch (status) {
			case DONE -> "D";
			case FAILED -> "F";
			case IN_DOUBT -> "X";
		};
	}

	/**
	 * The status of a stored letter.
	 * @param code {@code D}, {@code F} or {@code X}
	 * @return the status; a letter that is not known is a doubt
	 */
	public static Status statusOf(String code) {
		return switch (code) {
			case "D" -> Status.DONE;
			case "F" -> Status.FAILED;
			default -> Status.IN_DOUBT;
		};
	}

}
