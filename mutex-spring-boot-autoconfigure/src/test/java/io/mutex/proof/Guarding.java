package io.mutex.proof;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.mutex.LockProvider;
import io.mutex.fence.FenceGuard;
import io.mutex.jdbc.JdbcFenceGuard;
import io.mutex.jdbc.JdbcLockProvider;
import io.mutex.jdbc.JdbcSettings;

/**
 * Where the locks are, and which guard stands before what is written under them.
 */
enum Guarding {

	/** The row of the lock. */
	POSTGRESQL(Store.POSTGRESQL, Store.POSTGRESQL),

	/** The row of the lock. */
	MARIADB(Store.MARIADB, Store.MARIADB),

	/** The row of the lock. */
	H2(Store.H2, Store.H2),

	/** A table of its own. */
	POSTGRESQL_UNDER_REDIS(Store.REDIS, Store.POSTGRESQL),

	/** A table of its own. */
	MARIADB_UNDER_REDIS(Store.REDIS, Store.MARIADB),

	/** A table of its own. */
	H2_UNDER_REDIS(Store.REDIS, Store.H2),

	/** A script. */
	REDIS(Store.REDIS, Store.REDIS),

	/** A file. */
	FILE_UNDER_REDIS(Store.REDIS, Store.FILE),

	/** A file. */
	FILE_UNDER_JDBC(Store.POSTGRESQL, Store.FILE);

	private static final JdbcSettings SETTINGS = new JdbcSettings("mutex_", null, null, 2, Duration.ofMillis(500),
			Duration.ofSeconds(5));

	private final Store locks;

	private final Store data;

	Guarding(Store locks, Store data) {
		this.locks = locks;
		this.data = data;
	}

	/**
	 * Whether a worker that stands at a place for longer than its lease makes its
	 * successor wait, since nothing ends what it has begun.
	 * @param place the place
	 * @return whether it does
	 */
	boolean waitsAt(Place place) {
		return place == Place.BEFORE_COMMIT && (this.data == Store.H2 || this.data == Store.FILE);
	}

	/**
	 * Makes a place for locks and data that no other test uses.
	 * @param directory where files can be
	 * @param keys the keys that will be written to
	 * @return the addresses
	 */
	Addresses prepare(Path directory, List<String> keys) {
		try {
			Path own = Files.createTempDirectory(directory, name());
			String data = switch (this.data) {
				case FILE -> Files.createDirectories(own.resolve("ledger")).toString();
				case REDIS -> this.data.prepare(own);
				case H2, POSTGRESQL, MARIADB -> {
					String url = this.data.prepare(own);
					SqlLedger.prepare(url, keys);
					yield url;
				}
			};
			return new Addresses((this.locks == this.data) ? data : this.locks.prepare(own), data);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Opens locks, guard and data, in any process of this host.
	 * @param addresses where they are
	 * @param namespace the namespace
	 * @return what was opened
	 */
	Opened open(Addresses addresses, String namespace) {
		return switch (this.data) {
			case FILE -> {
				LockProvider locks = this.locks.open(addresses.locks(), namespace);
				yield new Opened(locks, List.of(), new FileLedger(Path.of(addresses.data())), locks::close);
			}
			case REDIS -> {
				LockProvider locks = this.locks.open(addresses.locks(), namespace);
				RedisLedger ledger = new RedisLedger(addresses.data(), namespace);
				yield new Opened(locks, List.of(ledger.guard()), ledger, locks::close);
			}
			case H2, POSTGRESQL, MARIADB -> openDatabase(addresses, dataSource(addresses.data()), namespace);
		};
	}

	/**
	 * Opens data that is in a database.
	 * @param addresses where the locks are
	 * @param dataSource where the data is
	 * @param namespace the namespace
	 * @return what was opened
	 */
	Opened openDatabase(Addresses addresses, HikariDataSource dataSource, String namespace) {
		if (this.locks == this.data) {
			JdbcLockProvider locks = new JdbcLockProvider(dataSource, namespace, SETTINGS);
			JdbcFenceGuard guard = JdbcFenceGuard.of(locks);
			return new Opened(locks, List.of(guard), new SqlLedger(dataSource, guard), locks::close);
		}
		return openTable(this.locks.open(addresses.locks(), namespace), dataSource, namespace);
	}

	/**
	 * Opens data behind a table of its own.
	 * @param locks where the locks are
	 * @param dataSource where the data is
	 * @param namespace the namespace
	 * @return what was opened
	 */
	static Opened openTable(LockProvider locks, HikariDataSource dataSource, String namespace) {
		JdbcFenceGuard guard = new JdbcFenceGuard(dataSource, namespace, SETTINGS);
		return new Opened(locks, List.of(guard), new SqlLedger(dataSource, guard), () -> {
			guard.close();
			locks.close();
		});
	}

	static HikariDataSource dataSource(String url) {
		HikariConfig config = new HikariConfig();
		config.setJdbcUrl(url);
		config.setMaximumPoolSize(8);
		config.setMinimumIdle(0);
		return new HikariDataSource(config);
	}

	/**
	 * Where locks and data are.
	 *
	 * @param locks the address of the locks
	 * @param data the address of the data
	 */
	record Addresses(String locks, String data) {

		/**
		 * Lets the database end a transaction that stays idle for two seconds, as every
		 * application should: what a stopped process has locked stays locked otherwise.
		 * @return other addresses of the same
		 */
		Addresses limited() {
			String limit = this.data.startsWith("jdbc:postgresql:")
					? "&options=-c%20idle_in_transaction_session_timeout=2s"
					: "&sessionVariables=idle_transaction_timeout=2";
			String limited = this.data + limit;
			return new Addresses(this.locks.equals(this.data) ? limited : this.locks, limited);
		}

	}

	/**
	 * What one process has opened.
	 *
	 * @param locks the locks
	 * @param guards what is told of each grant
	 * @param ledger the data behind the guard
	 * @param closing closes locks and guards
	 */
	record Opened(LockProvider locks, List<FenceGuard> guards, Ledger ledger, Runnable closing) {

		void close() {
			this.closing.run();
			this.ledger.close();
		}

	}

}
