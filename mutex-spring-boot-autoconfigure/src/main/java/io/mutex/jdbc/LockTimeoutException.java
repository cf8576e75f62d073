package io.mutex.jdbc;

import io.mutex.MutexException;
import org.jspecify.annotations.Nullable;

/**
 * Thrown when another transaction kept a row locked for longer than the lock time-out:
 * nothing was changed.
 */
final class LockTimeoutException extends MutexException {

	private static final long serialVersionUID = 1L;

	LockTimeoutException(@Nullable String key, String message, Throwable cause) {
		super(key, message, cause);
	}

}
