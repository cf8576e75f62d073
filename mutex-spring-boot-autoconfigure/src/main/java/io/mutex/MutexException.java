package io.mutex;

import org.jspecify.annotations.Nullable;

/**
 * Base of everything that Mutex throws by itself. Thrown as such when the store could not
 * be asked, gave an answer nobody can act on, or a request is not valid: the protected
 * work has not run, or its record is not confirmed, and the message says which.
 */
public class MutexException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final @Nullable String key;

	public MutexException(String message) {
		this(null, message, null);
	}

	public MutexException(@Nullable String key, String message) {
		this(key, message, null);
	}

	public MutexException(@Nullable String key, String message, @Nullable Throwable cause) {
		super(message, cause);
		this.key = key;
	}

	/**
	 * The key that was asked for.
	 * @return the key, or {@code null} if the failure concerns no single key
	 */
	public @Nullable String getKey() {
		return this.key;
	}

}
