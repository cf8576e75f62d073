package io.mutex.jdbc;

import java.time.Duration;
import java.util.concurrent.Future;

import org.awaitility.Awaitility;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Sees whether a statement waits for a row that another transaction has locked.
 */
final class LockWaits {

	private LockWaits() {
	}

	/**
	 * Returns when a statement of the database waits.
	 * @param platform the platform
	 * @param database the database
	 * @param work what is to wait, and has not ended when this returns
	 */
	static void await(JdbcPlatform platform, TestDatabase database, Future<?> work) {
		String waiting = switch (platform) {
			case H2 -> "SELECT COUNT(*) FROM INFORMATION_SCHEMA.SESSIONS WHERE BLOCKER_ID IS NOT NULL";
			case POSTGRESQL -> "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
					+ " AND datname = current_database()";
			case MARIADB, MYSQL -> "SELECT COUNT(*) FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'";
		};
		Awaitility.await()
			.atMost(Duration.ofSeconds(30))
			.until(() -> work.isDone() || !database.query(waiting).equals("0"));
		assertThat(work).isNotDone();
	}

}
