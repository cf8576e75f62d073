package io.mutex.proof;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import io.mutex.LeaseCallback;
import io.mutex.LockProvider;
import io.mutex.LockRequest;
import io.mutex.MutexListener;
import io.mutex.RunResult;
import io.mutex.engine.EngineSettings;
import io.mutex.engine.LockEngine;
import io.mutex.run.Outcome;
import io.mutex.run.RunRecord;
import io.mutex.run.RunRecord.Status;
import io.mutex.run.RunUnit;
import io.mutex.testing.CuttingProxy;
import io.mutex.testing.TestServer;
import io.mutex.testing.TestServers;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * A store that goes away while a unit runs, while it is completed and while its key is
 * released: the caller sees what the body did, and the store never has a record that is
 * not true.
 */
@TestInstance(Lifecycle.PER_CLASS)
@DisplayName("C62 a store that goes away during a run")
class StoreOutageTests {

	private static final List<Store> STORES = List.of(Store.POSTGRESQL, Store.MARIADB, Store.REDIS);

	private static final Duration SHORT = Duration.ofSeconds(2);

	private static final Duration LONG = Duration.ofSeconds(60);

	private final Map<Store, Outage> outages = new ConcurrentHashMap<>();

	@AfterAll
	void close() throws IOException {
		for (Outage outage : this.outages.values()) {
			outage.close();
		}
	}

	@Test
	@DisplayName("C62 killed and started again during the body: the run is recorded")
	void restartDuringTheBody() {
		onEachStore((outage) -> {
			RunResult<String> result = outage.run(LONG, (lease) -> {
				outage.server.kill();
				outage.server.start();
				return "value";
			});
			assertThat(result.outcome()).isEqualTo(Outcome.EXECUTED);
			assertThat(result.value()).isEqualTo("value");
			outage.assertRecorded();
		});
	}

	@Test
	@DisplayName("C62 gone from the body on: the result is the body's, and the unit is in doubt")
	void goneFromTheBodyOn() {
		onEachStore((outage) -> {
			RunResult<String> result = outage.run(SHORT, (lease) -> {
				outage.proxy.cut();
				return "value";
			});
			assertThat(result.outcome()).isEqualTo(Outcome.STORE_ERROR);
			assertThat(result.value()).isEqualTo("value");
			assertThat(outage.ended()).containsExactly(Outcome.STORE_ERROR);
			outage.assertInDoubt();
		});
	}

	@Test
	@DisplayName("C62 gone when the body throws: the exception is the body's, and the unit is in doubt")
	void goneWhenTheBodyThrows() {
		onEachStore((outage) -> {
			assertThatIllegalStateException().isThrownBy(() -> outage.run(SHORT, (lease) -> {
				outage.proxy.cut();
				throw new IllegalStateException("of the body");
			})).withMessage("of the body").satisfies((ex) -> assertThat(ex.getSuppressed()).hasSize(1));
			assertThat(outage.ended()).containsExactly(Outcome.STORE_ERROR);
			outage.assertInDoubt();
		});
	}

	@Test
	@DisplayName("C62 the answer to the record is lost: it is asked for, and there is one record")
	void answerToTheRecordIsLost() {
		onEachStore((outage) -> {
			outage.before = (operation) -> {
				if (operation.equals("complete")) {
					outage.proxy.loseOneAnswer();
					outage.before = Before.NOTHING;
				}
			};
			assertThat(outage.run(LONG, (lease) -> "value").outcome()).isEqualTo(Outcome.EXECUTED);
			if (outage.store != Store.REDIS) { // whose client asks again by itself
				assertThat(outage.asked).filteredOn("complete"::equals).hasSizeGreaterThan(1);
			}
			outage.assertRecorded();
		});
	}

	@Test
	@DisplayName("C62 gone with the answer to the record: an error for the caller, and what the store has is true")
	void goneWithTheAnswerToTheRecord() {
		onEachStore((outage) -> {
			outage.before = (operation) -> {
				if (operation.equals("complete")) {
					outage.proxy.loseAnswersForGood();
					outage.before = Before.NOTHING;
				}
			};
			RunResult<String> result = outage.run(SHORT, (lease) -> "value");
			assertThat(result.outcome()).isEqualTo(Outcome.STORE_ERROR);
			assertThat(result.value()).isEqualTo("value");
			outage.proxy.pass();
			if (outage.stored().isEmpty()) {
				outage.assertInDoubt();
			}
			else {
				outage.assertRecorded();
			}
		});
	}

	@Test
	@DisplayName("C62 gone when the record is sent: an error for the caller, and the unit is in doubt")
	void goneWhenTheRecordIsSent() {
		onEachStore((outage) -> {
			outage.before = (operation) -> {
				if (operation.equals("complete")) {
					outage.proxy.cut();
				}
			};
			assertThat(outage.run(SHORT, (lease) -> "value").outcome()).isEqualTo(Outcome.STORE_ERROR);
			outage.before = Before.NOTHING;
			outage.assertInDoubt();
		});
	}

	@Test
	@DisplayName("C62 gone for a moment when the record is sent: the run is recorded")
	void standsStillWhenTheRecordIsSent() {
		onEachStore((outage) -> {
			outage.before = (operation) -> {
				if (operation.equals("complete")) {
					outage.before = Before.NOTHING;
					outage.server.pause();
					CompletableFuture.delayedExecutor(1, TimeUnit.SECONDS).execute(outage.server::resume);
				}
			};
			assertThat(outage.run(LONG, (lease) -> "value").outcome()).isEqualTo(Outcome.EXECUTED);
			outage.assertRecorded();
		});
	}

	@Test
	@DisplayName("C62 gone when a lock is released: the result is the body's, and the key is free after the lease")
	void goneWhenALockIsReleased() {
		onEachStore((outage) -> {
			String value = outage.engine.execute(LockRequest.of(outage.key).withLease(SHORT), (lease) -> {
				outage.proxy.cut();
				return "value";
			});
			assertThat(value).isEqualTo("value");
			outage.proxy.pass();
			Awaitility.await()
				.atMost(Site.PATIENCE)
				.ignoreExceptions()
				.until(() -> outage.direct.lock(outage.key).isEmpty());
			assertThat(outage.stored()).isEmpty();
		});
	}

	@Test
	@DisplayName("C62 gone when a doubt is released: it is reported, and stays")
	void goneWhenADoubtIsReleased() {
		onEachStore((outage) -> {
			outage.run(SHORT, (lease) -> {
				outage.proxy.cut();
				return "value";
			});
			outage.assertInDoubt();
			outage.before = (operation) -> {
				if (operation.equals("release")) {
					outage.proxy.cut();
				}
			};
			assertThat(outage.call(true)).isEqualTo(Outcome.SKIPPED_IN_DOUBT);
			outage.before = Before.NOTHING;
			outage.assertInDoubt();
		});
	}

	// One server for each store, and a key for each test. The stores take their turns at
	// the same time.
	private void onEachStore(Consumer<Outage> test) {
		CompletableFuture.allOf(STORES.stream().map((store) -> CompletableFuture.runAsync(() -> {
			Outage outage = this.outages.computeIfAbsent(store, Outage::start);
			outage.begin();
			test.accept(outage);
		}, (task) -> new Thread(task, store.name()).start())).toArray(CompletableFuture<?>[]::new)).join();
	}

	/** What happens before an operation is sent. */
	private interface Before {

		Before NOTHING = (operation) -> {
		};

		void operation(String operation);

	}

	/**
	 * A server of its own, and the way to it.
	 */
	private static final class Outage implements AutoCloseable {

		private final Store store;

		private final TestServer server;

		private final CuttingProxy proxy;

		private final LockProvider direct;

		private final LockProvider cut;

		private final LockEngine engine;

		private final List<String> asked = new CopyOnWriteArrayList<>();

		private final List<MutexListener.Run> runs = new CopyOnWriteArrayList<>();

		private volatile Before before = Before.NOTHING;

		private String key = "";

		private Outage(Store store, TestServer server, String address) {
			this.store = store;
			this.server = server;
			this.proxy = CuttingProxy.to(server.host(), server.port());
			this.direct = store.open(address, "outage");
			this.cut = store.open(address.replace(":" + server.port(), ":" + this.proxy.port()), "outage");
			LockProvider between = Between.on(this.cut, (operation, call) -> {
				this.asked.add(operation);
				this.before.operation(operation);
				return call.call();
			});
			this.engine = new LockEngine(between, EngineSettings.defaults("outage"), List.of(new MutexListener() {

				@Override
				public void run(Run run) {
					Outage.this.runs.add(run);
				}

			}));
		}

		static Outage start(Store store) {
			TestServer server = switch (store) {
				case POSTGRESQL -> TestServers.newPostgres();
				case MARIADB -> TestServers.newMariaDb();
				case REDIS -> TestServers.newRedis();
				default -> throw new IllegalArgumentException(store.name());
			};
			String address = (store == Store.REDIS) ? Store.address(server) : Store.withTables(server.newDatabase());
			return new Outage(store, server, address);
		}

		void begin() {
			this.proxy.pass();
			this.before = Before.NOTHING;
			this.asked.clear();
			this.runs.clear();
			this.key = "key-" + UUID.randomUUID();
			Awaitility.await().atMost(Site.PATIENCE).ignoreExceptions().untilAsserted(this.cut::check);
		}

		RunResult<String> run(Duration lease, LeaseCallback<String, RuntimeException> body) {
			return this.engine.singleRun(request().withLease(lease), body);
		}

		Outcome call(boolean skipInDoubt) {
			return this.engine.singleRun(request().withLease(SHORT).withSkipInDoubt(skipInDoubt), (lease) -> "again")
				.outcome();
		}

		private LockRequest request() {
			return LockRequest.of(this.key).withUnit(RunUnit.of("u"));
		}

		List<Outcome> ended() {
			List<Outcome> outcomes = new ArrayList<>();
			this.runs.forEach((run) -> outcomes.add(run.outcome()));
			return outcomes;
		}

		// a pooled connection may still be one to the server that was killed
		private List<RunRecord> stored() {
			return Awaitility.await()
				.atMost(Site.PATIENCE)
				.ignoreExceptions()
				.until(() -> this.direct.runs(this.key, 9), Objects::nonNull);
		}

		void assertRecorded() {
			assertThat(stored()).singleElement().satisfies((run) -> assertThat(run.status()).isEqualTo(Status.DONE));
			assertThat(call(false)).isEqualTo(Outcome.SKIPPED_DONE);
		}

		void assertInDoubt() {
			this.proxy.pass();
			Awaitility.await()
				.atMost(Site.PATIENCE)
				.ignoreExceptions()
				.until(() -> this.direct.lock(this.key).isEmpty());
			Awaitility.await().atMost(Site.PATIENCE).ignoreExceptions().untilAsserted(this.cut::check);
			assertThat(call(true)).isEqualTo(Outcome.SKIPPED_IN_DOUBT);
			assertThat(stored()).singleElement()
				.satisfies((run) -> assertThat(run.status()).isEqualTo(Status.IN_DOUBT));
		}

		@Override
		public void close() throws IOException {
			this.engine.close();
			this.cut.close();
			this.direct.close();
			this.proxy.close();
			this.server.close();
		}

	}

}
