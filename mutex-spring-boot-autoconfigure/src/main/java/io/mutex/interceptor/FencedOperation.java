package io.mutex.interceptor;

import java.time.Duration;

import io.mutex.annotation.Fencing;
import io.mutex.annotation.OnHeld;
import org.jspecify.annotations.Nullable;

/**
 * What a {@link io.mutex.annotation.Fenced} resolves to.
 *
 * @param declaration the method
 * @param key the key
 * @param resource the guarded resource, or {@code null} for the one named like the key
 * @param waitFor how long to wait for a held key
 * @param onHeld what to do when it is held
 * @param fencing when the storage refuses an earlier holder
 * @param lease the length of the lease
 * @param maxHold the longest hold, or {@code null} for no limit
 */
record FencedOperation(Declaration declaration, Template key, @Nullable Template resource, Duration waitFor,
		OnHeld onHeld, Fencing fencing, Duration lease, @Nullable Duration maxHold) {

	/**
	 * What two methods with one key have to agree on.
	 * @return the policy, for people
	 */
	String policy() {
		return "fencing " + this.fencing + ((this.resource != null) ? " of '" + this.resource.text() + "'" : "")
				+ ", lease " + this.lease + ((this.maxHold != null) ? ", held at most " + this.maxHold : "");
	}

}
