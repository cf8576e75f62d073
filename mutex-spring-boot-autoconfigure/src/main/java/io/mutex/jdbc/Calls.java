package io.mutex.jdbc;

import java.sql.SQLException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;

import io.mutex.MutexException;
import io.mutex.StoreSetupException;
import org.jspecify.annotations.Nullable;

/**
 * Runs work on a connection, again if the database took it back, and turns what it
 * reports into exceptions that say what to do.
 */
final class Calls {

	private static final int MAX_TRIES = 20;

	private static final long PAUSE_NANOS = 500_000;

	private static final int MAX_PAUSES = 16;

	private final ConnectionSource connections;

	private final JdbcSettings settings;

	private final String subject;

	Calls(ConnectionSource connections, JdbcSettings settings, String subject) {
		this.connections = connections;
		this.settings = settings;
		this.subject = subject;
	}

	<T> T call(@Nullable String key, String verb, ConnectionSource.Work<T> work) {
		return call(key, verb, () -> this.connections.call(work), 0);
	}

	// for work that must not wait until other work gives its connection back
	<T> T callApart(@Nullable String key, String verb, ConnectionSource.Work<T> work) {
		return call(key, verb, () -> this.connections.callApart(work), 0);
	}

	// for work that is harmless to repeat: asks once more where an answer may be lost
	<T> T callRepeatable(@Nullable String key, String verb, ConnectionSource.Work<T> work) {
		return call(key, verb, () -> this.connections.call(work), 1);
	}

	private <T> T call(@Nullable String key, String verb, Try<T> work, int repeats) {
		int unanswered = 0;
		for (int attempt = 1;; attempt++) {
			try {
				return work.once();
			}
			catch (SQLException ex) {
				Failure failure = Failure.of(ex);
				boolean again = (failure == Failure.OTHER) ? unanswered++ < repeats : failure == Failure.TRANSIENT;
				if (!again || attempt == MAX_TRIES) {
					throw translate(key, verb, failure, ex);
				}
				pause(attempt);
			}
		}
	}

	// waits a moment of random length, the longer the more often it was in vain
	static void pause(int attempt) {
		LockSupport.parkNanos(
				ThreadLocalRandom.current().nextLong(PAUSE_NANOS / 4, PAUSE_NANOS * Math.min(attempt, MAX_PAUSES)));
	}

	private MutexException translate(@Nullable String key, String verb, Failure failure, SQLException ex) {
		String what = "the " + this.subject + " could not " + verb + ((key != null) ? " key '" + key + "'" : "");
		if (failure == Failure.MISSING_TABLE) {
			JdbcPlatform platform = this.connections.knownPlatform();
			if (platform != null) {
				return new MissingTableException(tables(), JdbcSchema.ddl(platform, this.settings), ex);
			}
		}
		if (failure == Failure.LOCK_TIMEOUT) {
			return new LockTimeoutException(key, what + ": another transaction kept the row locked for longer than"
					+ " mutex.jdbc.lock-timeout (" + this.settings.lockTimeout().toMillis() + " ms)", ex);
		}
		if (failure == Failure.DENIED) {
			return new StoreSetupException("The " + this.subject + " may not use its tables: " + ex.getMessage() + ".",
					"Give the database user SELECT, INSERT, UPDATE and DELETE on " + tables() + ".", ex);
		}
		return new MutexException(key, what + ": " + ex.getMessage() + "; " + advice(failure), ex);
	}

	private static String advice(Failure failure) {
		return switch (failure) {
			case READ_ONLY -> "the database takes no writes: check that the DataSource leads to the primary server";
			case NO_CONNECTION -> "no connection was to be had: check that the database can be reached, and the size"
					+ " of the connection pool (mutex.jdbc.pool-size)";
			default -> "check that the database can be reached; if an answer was lost, the outcome is unknown until"
					+ " the same operation is asked for again";
		};
	}

	private String tables() {
		return this.settings.table("lock") + ", " + this.settings.table("run") + " and " + this.settings.table("fence");
	}

	/**
	 * One try of some work.
	 *
	 * @param <T> the type of the answer
	 */
	@FunctionalInterface
	private interface Try<T> {

		T once() throws SQLException;

	}

}
