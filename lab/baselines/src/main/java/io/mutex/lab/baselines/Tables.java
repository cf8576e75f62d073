package io.mutex.lab.baselines;

import java.util.concurrent.locks.LockSupport;

import org.springframework.dao.DataAccessException;

/**
 * What makes the tables of a library. All workers do so at once, and a database may
 * refuse all but one.
 */
final class Tables {

	private static final int TRIES = 5;

	private Tables() {
	}

	static void create(Runnable creation) {
		for (int left = TRIES; left > 0; left--) {
			try {
				creation.run();
				return;
			}
			catch (DataAccessException ex) {
				// the next use of the table says whether another worker has made it
				LockSupport.parkNanos(100_000_000);
			}
		}
	}

}
