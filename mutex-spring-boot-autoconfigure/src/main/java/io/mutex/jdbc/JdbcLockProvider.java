package io.mutex.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.Function;

import javax.sql.DataSource;

import io.mutex.AcquireRequest;
import io.mutex.Acquisition;
import io.mutex.HeldLock;
import io.mutex.LockProvider;
import io.mutex.MutexException;
import io.mutex.Purged;
import io.mutex.Reopening;
import io.mutex.TransactionalStore;
import io.mutex.jdbc.FastPath.Outcome;
import io.mutex.protocol.LockRow;
import io.mutex.protocol.StoreProtocol;
import io.mutex.protocol.Transition;
import io.mutex.run.RunRecord;
import org.jspecify.annotations.Nullable;

/**
 * Keeps locks in two tables of a relational database.
 * <p>
 * A key is decided upon in Java, from one statement that reads its row, the record of the
 * unit and the time, and is written by a compare-and-set; where the database can do both
 * in one statement, it does. Each operation commits on its own connection and takes no
 * part in a transaction of the caller.
 */
public final class JdbcLockProvider implements LockProvider, TransactionalStore {

	private static final int MAX_RACES = 20;

	// for what may as well be lost
	private static final int MAX_HINTS = 3;

	private final DataSource dataSource;

	private final String namespace;

	private final JdbcSettings settings;

	private final ConnectionSource connections;

	private final Calls calls;

	private volatile @Nullable Store store;

	private volatile List<String> findings = List.of();

	/**
	 * Creates a provider. The database is not touched before the first operation.
	 * @param dataSource the database
	 * @param namespace separates applications that share the tables: not blank, at most
	 * 200 characters
	 * @param settings how the tables are reached
	 */
	public JdbcLockProvider(DataSource dataSource, String namespace, JdbcSettings settings) {
		this.dataSource = dataSource;
		this.namespace = requireNamespace(namespace);
		this.settings = settings;
		this.connections = new ConnectionSource(dataSource, settings);
		this.calls = new Calls(this.connections, settings, "jdbc provider");
	}

	static String requireNamespace(String namespace) {
		if (namespace.isBlank() || namespace.length() > 200) {
			throw new IllegalArgumentException("mutex.namespace must have 1 to 200 characters, not all blank, but was '"
					+ namespace + "'; it defaults to spring.application.name");
		}
		return namespace;
	}

	String namespace() {
		return this.namespace;
	}

	JdbcSettings settings() {
		return this.settings;
	}

	ConnectionSource connections() {
		return this.connections;
	}

	@Override
	public String name() {
		return "jdbc";
	}

	@Override
	public Acquisition acquire(AcquireRequest request) {
		String unit = (request.unit() != null) ? request.unit().id() : null;
		Function<Snapshot, Transition<Acquisition>> decision = (seen) -> StoreProtocol.acquire(seen.lock(),
				seen.shared(), seen.run(), request, seen.now());
		try {
			return call(request.key(), "acquire", (connection, store) -> {
				Snapshot first = request.isShared() ? null : tryAtOnce(connection, store, request, decision);
				Snapshot complete = (first != null && first.isShared()) ? null : first;
				return step(connection, store, request.key(), unit, complete, decision, busy());
			});
		}
		catch (LockTimeoutException ex) {
			Transition<Acquisition> seen = call(request.key(), "acquire",
					(connection, store) -> decision.apply(store.rows().read(connection, request.key(), unit)));
			return (seen.answer() instanceof Acquisition.Granted && seen.isWrite()) ? busy() : seen.answer();
		}
	}

	// a plain grant that was due and not stored met a writer that it did not see: what it
	// saw is too old to write upon, and as nothing was stored, it may ask again
	private static @Nullable Snapshot tryAtOnce(Connection connection, Store store, AcquireRequest request,
			Function<Snapshot, Transition<Acquisition>> decision) throws SQLException {
		Snapshot seen = store.fast().acquire(connection, request);
		if (seen == null || seen.written() || seen.isShared()) {
			return seen;
		}
		Transition<Acquisition> due = decision.apply(seen);
		boolean raced = due.isSingle() && due.answer() instanceof Acquisition.Granted;
		return raced ? store.fast().acquire(connection, request) : seen;
	}

	private static Acquisition busy() {
		return new Acquisition.Held(null, null, Duration.ZERO);
	}

	@Override
	public List<Renewal> renew(List<Grant> grants) {
		if (grants.isEmpty()) {
			return List.of();
		}
		List<Grant> alone = grants.stream().filter((grant) -> !grant.shared()).toList();
		return callApart((grants.size() == 1) ? grants.get(0).key() : null, "renew", (connection, store) -> {
			Iterator<Renewal> answers = alone.isEmpty() ? Collections.emptyIterator()
					: renewAlone(connection, store, alone).iterator();
			List<Renewal> all = new ArrayList<>();
			for (Grant grant : grants) {
				all.add(grant.shared() ? renewShared(connection, store, grant) : answers.next());
			}
			return all;
		});
	}

	private static List<Renewal> renewAlone(Connection connection, Store store, List<Grant> grants)
			throws SQLException {
		List<Renewal> answers = store.fast().renew(connection, grants);
		return (answers != null) ? answers : store.renewals().renew(connection, grants);
	}

	private static Renewal renewShared(Connection connection, Store store, Grant grant) throws SQLException {
		try {
			return step(connection, store, grant.key(), null, null,
					(seen) -> StoreProtocol.renew(seen.lock(), seen.shared(), grant, seen.now()), Renewal.BUSY);
		}
		catch (SQLException ex) {
			if (Failure.of(ex) == Failure.LOCK_TIMEOUT) {
				return Renewal.BUSY;
			}
			throw ex;
		}
	}

	@Override
	public Settlement release(String key, String nonce, boolean began) {
		return call(key, "release", (connection, store) -> {
			if (store.fast().release(connection, key, nonce, began)) {
				return Settlement.SETTLED;
			}
			return step(connection, store, key, null, null,
					(seen) -> StoreProtocol.release(seen.lock(), seen.shared(), nonce, began, seen.now()), null);
		});
	}

	@Override
	public Settlement complete(Grant grant, String unit) {
		return call(grant.key(), "complete", (connection, store) -> {
			if (store.fast().settle(connection, grant, unit, Outcome.done())) {
				return Settlement.SETTLED;
			}
			return step(connection, store, grant.key(), unit, null,
					(seen) -> StoreProtocol.complete(seen.lock(), seen.run(), grant, unit, seen.now()), null);
		});
	}

	@Override
	public Settlement fail(Grant grant, String unit, String error, Duration delay) {
		return call(grant.key(), "fail", (connection, store) -> {
			if (store.fast().settle(connection, grant, unit, Outcome.failed(delay, error))) {
				return Settlement.SETTLED;
			}
			return step(connection, store, grant.key(), unit, null,
					(seen) -> StoreProtocol.fail(seen.lock(), seen.run(), grant, unit, seen.now(), delay, error), null);
		});
	}

	@Override
	public DataSource dataSource() {
		return this.dataSource;
	}

	@Override
	public @Nullable String unfitIsolation(int isolation) {
		if (isolation <= Connection.TRANSACTION_READ_COMMITTED) {
			return null;
		}
		boolean unfit = call(null, "check", (connection, store) -> store.completion().keepsSnapshot(connection));
		return unfit ? ((isolation == Connection.TRANSACTION_SERIALIZABLE) ? "SERIALIZABLE" : "REPEATABLE READ") : null;
	}

	@Override
	public boolean complete(Connection connection, Grant grant, String unit, Duration remaining) throws SQLException {
		return completion(grant.key()).complete(connection, grant, unit, remaining);
	}

	@Override
	public void restore(Connection connection) {
		completion(null).restore(connection);
	}

	private TransactionalCompletion completion(@Nullable String key) {
		Store known = this.store;
		return (known != null) ? known.completion() : call(key, "check", (connection, store) -> store.completion());
	}

	@Override
	public ForcedRelease forceRelease(String key) {
		String nonce = UUID.randomUUID().toString().replace("-", "");
		return call(key, "free", (connection, store) -> step(connection, store, key, null, null,
				(seen) -> StoreProtocol.forceRelease(key, seen.lock(), seen.shared(), nonce, seen.now()), null));
	}

	@Override
	public Reopening reopen(String key, String unit) {
		return call(key, "reopen a unit of", (connection, store) -> step(connection, store, key, unit, null,
				(seen) -> StoreProtocol.reopen(key, seen.lock(), seen.run(), unit, seen.now()), null));
	}

	@Override
	public List<HeldLock> locks(int limit) {
		return call(null, "list locks", (connection, store) -> store.rows().locks(connection, limit));
	}

	@Override
	public Optional<HeldLock> lock(String key) {
		return call(key, "look up", (connection, store) -> store.rows().lock(connection, key));
	}

	@Override
	public List<RunRecord> runs(String key, int limit) {
		return call(key, "list runs of", (connection, store) -> store.rows().runs(connection, key, limit));
	}

	@Override
	public Optional<RunRecord> lastSuccess(String key) {
		return call(key, "look up a success of", (connection, store) -> store.rows().lastSuccess(connection, key));
	}

	@Override
	public Purged purge(Duration idle, @Nullable String after, int limit) {
		return call(null, "clean up", (connection, store) -> store.purge().purge(connection, idle, after, limit));
	}

	@Override
	public void check() {
		this.findings = call(null, "check", (connection, store) -> store.check().run(connection));
	}

	@Override
	public List<String> findings() {
		return this.findings;
	}

	@Override
	public boolean listen(String waiter, Consumer<String> released) throws InterruptedException {
		JdbcPlatform platform = this.calls.call(null, "listen", (connection, known) -> known);
		if (!PostgresNotifications.isFor(platform)) {
			return false;
		}
		try (Pool single = this.connections.single()) {
			if (single == null) {
				return false;
			}
			try (Connection connection = single.connect()) {
				return PostgresNotifications.listen(connection, waiter, released, this.connections::isClosed);
			}
		}
		catch (SQLException ex) {
			if (Thread.interrupted()) {
				throw new InterruptedException();
			}
			throw new MutexException(null, "the jdbc provider no longer hears of releases: " + ex.getMessage(), ex);
		}
	}

	@Override
	public void close() {
		this.connections.close();
	}

	// decides and writes until nobody came in between
	private static <A> A step(Connection connection, Store store, String key, @Nullable String unit,
			@Nullable Snapshot first, Function<Snapshot, Transition<A>> decision, @Nullable A raced)
			throws SQLException {
		Snapshot seen = (first != null) ? first : store.rows().read(connection, key, unit);
		for (int race = 1;; race++) {
			Transition<A> transition = decision.apply(seen);
			if (!transition.isWrite() || seen.written()) {
				return transition.answer();
			}
			if (write(connection, store, key, seen, transition)) {
				return told(connection, store, key, transition, seen.now());
			}
			if (race == MAX_HINTS && transition.answer() instanceof Acquisition.Held) {
				return transition.answer();
			}
			if (race == MAX_RACES) {
				if (raced != null) {
					return raced;
				}
				throw new SQLException("the row was changed by others " + MAX_RACES + " times in a row", "40001");
			}
			Calls.pause(race);
			if (transition.shared() != null) {
				Optional<Transition<A>> locked = store.rows().decideLocked(connection, key, unit, decision);
				if (locked.isPresent()) {
					return told(connection, store, key, locked.get(), seen.now());
				}
			}
			seen = store.rows().read(connection, key, unit);
		}
	}

	private static boolean write(Connection connection, Store store, String key, Snapshot seen,
			Transition<?> transition) throws SQLException {
		LockRow lock = transition.lock();
		if (lock != null && transition.answer() instanceof Acquisition.Held) {
			return store.fast().reserve(connection, key, seen.version(), lock.place());
		}
		return store.rows().write(connection, key, seen, transition);
	}

	// the answer to what is stored, after the next holder was told if it frees the key
	private static <A> A told(Connection connection, Store store, String key, Transition<A> transition, long now) {
		boolean frees = transition.answer() == Settlement.SETTLED || transition.answer() instanceof ForcedRelease;
		LockRow lock = transition.lock();
		if (frees && lock != null && lock.place().isTaken(now)) {
			store.fast().announce(connection, lock.place().waiter(), key);
		}
		return transition.answer();
	}

	private <T> T call(@Nullable String key, String verb, StoreWork<T> work) {
		return this.calls.call(key, verb, (connection, platform) -> work.on(connection, store(platform)));
	}

	private <T> T callApart(@Nullable String key, String verb, StoreWork<T> work) {
		return this.calls.callApart(key, verb, (connection, platform) -> work.on(connection, store(platform)));
	}

	private Store store(JdbcPlatform platform) {
		Store known = this.store;
		if (known == null) {
			known = Store.of(platform, this.settings, this.namespace);
			this.store = known;
		}
		return known;
	}

	/**
	 * The statements for one platform.
	 */
	private record Store(RowStore rows, FastPath fast, Renewals renewals, Purge purge, StoreCheck check,
			TransactionalCompletion completion) {

		static Store of(JdbcPlatform platform, JdbcSettings settings, String namespace) {
			return new Store(new RowStore(platform, settings, namespace), FastPath.of(platform, settings, namespace),
					new Renewals(platform, settings, namespace), new Purge(platform, settings, namespace),
					StoreCheck.ofLocks(platform, settings), TransactionalCompletion.of(platform, settings, namespace));
		}

	}

	@FunctionalInterface
	private interface StoreWork<T> {

		T on(Connection connection, Store store) throws SQLException;

	}

}
