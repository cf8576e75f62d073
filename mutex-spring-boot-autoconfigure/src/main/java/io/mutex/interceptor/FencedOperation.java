package io.mutex.interceptor;

import java.time.Duration;

import io.mutex.AcquireRequest;
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
 * @param permits how many may hold the key at once, {@link AcquireRequest#SHARED} for any
 * number
 * @param lease the length of the lease
 * @param maxHold the longest hold, or {@code null} for no limit
 */
record FencedOperation(Declaration declaration, Template key, @Nullable Template resource, Duration waitFor,
		OnHeld onHeld, Fencing fencing, int permits, Duration lease, @Nullable Duration maxHold) {

	boolean isShared() {
		return this.permits > 1;
	}

	private String sharing() {
		if (this.permits == AcquireRequest.SHARED) {
			return "shared, ";
		}
		return isShared() ? "at most " + this.permits + " at once, " : "";
	}

	/**
	 * What two methods with one key have to agree on.
	 * @return the policy, for people
	 */
	String policy() {
		return sharing() + "fencing " + this.fencing
				+ ((this.resource != null) ? " of '" + this.resource.text() + "'" : "") + ", lease " + this.lease
				+ ((this.maxHold != null) ? ", held at most " + this.maxHold : "");
	}

}
