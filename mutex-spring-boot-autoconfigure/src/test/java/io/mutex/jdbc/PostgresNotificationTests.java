package io.mutex.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import io.mutex.AcquireRequest;
import io.mutex.Acquisition;
import io.mutex.LockProvider.Grant;
import io.mutex.LockProvider.Settlement;
import io.mutex.MutexException;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.datasource.AbstractDataSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a waiter hears of by PostgreSQL's notifications.
 */
class PostgresNotificationTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private final TestDatabase database = TestDatabase.shared(JdbcPlatform.POSTGRESQL);

	private final String waiter = Requests.request("k").nonce();

	private final BlockingQueue<String> reports = new LinkedBlockingQueue<>();

	@Test
	void everyWayToFreeAKeyIsReportedToItsNextHolderAlone() throws Exception {
		try (JdbcLockProvider provider = this.database.provider()) {
			CompletableFuture<Boolean> listening = listen(provider);
			String key = Requests.newKey();
			provider.release(key, Requests.take(provider, key).nonce(), true);
			Grant completed = refuseWaiter(provider, Requests.request(key, "u1"));
			assertThat(provider.complete(completed, "u1")).isEqualTo(Settlement.SETTLED);
			assertReported(key);
			Grant failed = refuseWaiter(provider, Requests.request(key, "u2"));
			assertThat(provider.fail(failed, "u2", "error", Duration.ZERO)).isEqualTo(Settlement.SETTLED);
			assertReported(key);
			Grant released = refuseWaiter(provider, Requests.request(key, "u3"));
			assertThat(provider.release(key, released.nonce(), true)).as("in doubt").isEqualTo(Settlement.SETTLED);
			assertReported(key);
			refuseWaiter(provider, Requests.request(key));
			provider.forceRelease(key);
			assertReported(key);
			provider.release(key, Requests.take(provider, Requests.waiting(key, this.waiter)).nonce(), true);
			Grant last = refuseWaiter(provider, Requests.request(Requests.newKey()));
			provider.release(last.key(), last.nonce(), true);
			assertReported(last.key());
			assertThat(this.reports).isEmpty();
			provider.close();
			assertThat(listening.get(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
		}
	}

	@Test
	void listenerSendsNothingAndReportsTheEndOfItsConnection() throws Exception {
		try (JdbcLockProvider provider = this.database.provider()) {
			CompletableFuture<Boolean> listening = listen(provider);
			String before = this.database.query("SELECT query_start FROM pg_stat_activity WHERE " + ofListener());
			Grant held = refuseWaiter(provider, Requests.request(Requests.newKey()));
			provider.release(held.key(), held.nonce(), true);
			assertReported(held.key());
			assertThat(this.database.query("SELECT query_start FROM pg_stat_activity WHERE " + ofListener()))
				.isEqualTo(before);
			this.database.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE " + ofListener());
			assertThat(listening).failsWithin(PATIENCE).withThrowableThat().withCauseInstanceOf(MutexException.class);
			listen(provider);
			Grant again = refuseWaiter(provider, Requests.request(Requests.newKey()));
			provider.release(again.key(), again.nonce(), true);
			assertReported(again.key());
		}
	}

	@Test
	void borrowedConnectionsAreNotKeptForListening() throws Exception {
		JdbcSettings borrowing = JdbcSettings.defaults().withPoolSize(0);
		try (JdbcLockProvider provider = TestDatabase.provider(this.database.dataSource(), borrowing)) {
			assertThat(provider.listen(this.waiter, this.reports::add)).isFalse();
		}
	}

	@Test
	void keyIsReleasedAlsoIfNobodyCanBeTold() throws Exception {
		AtomicInteger full = new AtomicInteger();
		DataSource target = this.database.dataSource();
		DataSource failing = new AbstractDataSource() {

			@Override
			public Connection getConnection() throws SQLException {
				return withFullQueue(target.getConnection(), full);
			}

			@Override
			public Connection getConnection(String username, String password) throws SQLException {
				return getConnection();
			}

		};
		try (JdbcLockProvider provider = TestDatabase.provider(failing, JdbcSettings.defaults().withPoolSize(0))) {
			Grant released = refuseWaiter(provider, Requests.request(Requests.newKey()));
			assertThat(provider.release(released.key(), released.nonce(), true)).isEqualTo(Settlement.SETTLED);
			Grant completed = refuseWaiter(provider, Requests.request(Requests.newKey(), "u"));
			assertThat(provider.complete(completed, "u")).isEqualTo(Settlement.SETTLED);
			Grant forced = refuseWaiter(provider, Requests.request(Requests.newKey()));
			assertThat(provider.forceRelease(forced.key()).token()).isNotNull();
			assertThat(provider.lock(released.key())).isEmpty();
			assertThat(provider.lock(completed.key())).isEmpty();
			assertThat(provider.lock(forced.key())).isEmpty();
		}
		assertThat(full).hasValue(3);
	}

	// gigabytes of notifications that nobody reads would have to be there
	private static Connection withFullQueue(Connection target, AtomicInteger full) {
		return proxy(Connection.class, target, (name, arguments, result) -> {
			boolean notifies = name.equals("prepareStatement") && ((String) arguments[0]).contains("pg_notify");
			return !notifies ? result
					: proxy(PreparedStatement.class, Objects.requireNonNull(result), (call, parameters, answer) -> {
						if (call.startsWith("execute")) {
							full.incrementAndGet();
							throw new SQLException("too many notifications in the NOTIFY queue", "54000");
						}
						return answer;
					});
		});
	}

	private static <T> T proxy(Class<T> type, Object target, After after) {
		return type
			.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type }, (proxy, method, arguments) -> {
				boolean executes = target instanceof PreparedStatement && method.getName().startsWith("execute");
				try {
					return after.run(method.getName(), arguments, executes ? null : method.invoke(target, arguments));
				}
				catch (InvocationTargetException ex) {
					throw ex.getCause();
				}
			}));
	}

	private Grant refuseWaiter(JdbcLockProvider provider, AcquireRequest holder) {
		Grant grant = Requests.take(provider, holder);
		assertThat(provider.acquire(Requests.waiting(holder.key(), this.waiter))).isInstanceOf(Acquisition.Held.class);
		return grant;
	}

	private void assertReported(String key) throws InterruptedException {
		assertThat(this.reports.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isEqualTo(key);
	}

	private CompletableFuture<Boolean> listen(JdbcLockProvider provider) {
		CompletableFuture<Boolean> listening = new CompletableFuture<>();
		Thread thread = new Thread(() -> {
			try {
				listening.complete(provider.listen(this.waiter, this.reports::add));
			}
			catch (InterruptedException | RuntimeException ex) {
				listening.completeExceptionally(ex);
			}
		});
		thread.setDaemon(true);
		thread.start();
		Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> this.database.query("SELECT count(*) FROM pg_stat_activity WHERE " + ofListener())
				.equals("1"));
		return listening;
	}

	private String ofListener() {
		return "state = 'idle' AND query LIKE 'LISTEN %" + this.waiter + "%'";
	}

	@FunctionalInterface
	private interface After {

		@Nullable Object run(String name, Object[] arguments, @Nullable Object result) throws SQLException;

	}

}
