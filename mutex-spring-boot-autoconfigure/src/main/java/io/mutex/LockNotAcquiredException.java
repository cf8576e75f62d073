package io.mutex;

import io.mutex.run.Owner;
import org.jspecify.annotations.Nullable;

/**
 * The key was not acquired, and the protected work did not run.
 */
public class LockNotAcquiredException extends MutexException {

	private static final long serialVersionUID = 1L;

	private final Reason reason;

	private final transient @Nullable Owner holder;

	public LockNotAcquiredException(String key, Reason reason, @Nullable Owner holder, String message) {
		this(key, reason, holder, message, null);
	}

	public LockNotAcquiredException(String key, Reason reason, @Nullable Owner holder, String message,
			@Nullable Throwable cause) {
		super(key, message, cause);
		this.reason = reason;
		this.holder = holder;
	}

	/**
	 * Why the key was not acquired.
	 * @return the reason
	 */
	public Reason getReason() {
		return this.reason;
	}

	/**
	 * Who holds the key.
	 * @return the holder, or {@code null} if it is not known
	 */
	public @Nullable Owner getHolder() {
		return this.holder;
	}

	/**
	 * Why a key was not acquired.
	 */
	public enum Reason {

		/**
		 * Another run holds the key, and the call does not wait.
		 */
		HELD,

		/**
		 * Another run held the key until the time to wait was over.
		 */
		TIMED_OUT,

		/**
		 * The calling thread was interrupted while it waited; its interrupt flag is set.
		 */
		INTERRUPTED,

		/**
		 * The application is shutting down and accepts no new work.
		 */
		SHUTTING_DOWN

	}

}
