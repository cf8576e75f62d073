package io.mutex.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import ch.qos.logback.classic.Level;
import io.mutex.Lease;
import io.mutex.LeaseLostException;
import io.mutex.LockProvider.Renewal;
import io.mutex.LockRequest;
import io.mutex.MutexListener;
import io.mutex.RunResult;
import io.mutex.engine.FaultyProvider.Op;
import io.mutex.run.Outcome;
import io.mutex.run.RunUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Listeners are told, and change nothing.
 */
class EngineListenersTests {

	@Test
	void listenerThatThrowsChangesNothingAndTheNextIsTold() {
		FaultyProvider store = new FaultyProvider();
		Recorder events = new Recorder();
		SettableTime time = new SettableTime();
		try (LockEngine engine = Engines.engine(store, time, new Thrower(), events);
				Logged log = new Logged(MutexListener.class.getName())) {
			RunResult<String> result = engine.singleRun(
					LockRequest.of("key").withUnit(RunUnit.of("1")).withLease(Duration.ofSeconds(1)), (lease) -> {
						Awaitility.await().atMost(Engines.PATIENCE).until(() -> store.calls(Op.RENEW).size() >= 3);
						return "value";
					});
			assertThat(result.outcome()).isEqualTo(Outcome.EXECUTED);
			assertThatExceptionOfType(LeaseLostException.class)
				.isThrownBy(() -> engine.execute(LockRequest.of("key"), (lease) -> {
					time.pass(Duration.ofMinutes(1));
					return null;
				}));
			assertThat(log.at(Level.WARN)).isNotEmpty().allSatisfy((line) -> assertThat(line).contains("listener"));
		}
		assertThat(events.acquisitions).containsExactly("granted", "granted");
		assertThat(events.granted).hasSize(2);
		assertThat(events.ended).hasSize(2);
		assertThat(events.lost).hasSize(1);
		assertThat(events.outcomes()).containsExactly(Outcome.EXECUTED);
		assertThat(store.locks(9)).isEmpty();
	}

	@Test
	void listenerThatBlocksCostsNoOtherLease() throws Exception {
		CountDownLatch blocked = new CountDownLatch(1);
		CountDownLatch free = new CountDownLatch(1);
		MutexListener blocking = new MutexListener() {

			@Override
			public void lost(Lease lease, String reason) {
				blocked.countDown();
				Engines.awaitUninterruptibly(free);
			}

		};
		FaultyProvider store = new FaultyProvider();
		ExecutorService threads = Executors.newSingleThreadExecutor();
		try (LockEngine engine = Engines.engine(store, TimeSource.SYSTEM, blocking)) {
			LockRequest lost = LockRequest.of("lost").withLease(Duration.ofSeconds(3));
			Future<?> loser = threads.submit(() -> engine.execute(lost, (lease) -> {
				store.forceRelease("lost");
				Engines.await(free);
				return null;
			}));
			engine.execute(LockRequest.of("other").withLease(Duration.ofSeconds(3)), (lease) -> {
				Engines.awaitUninterruptibly(blocked);
				int before = renewals(store);
				Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> renewals(store) >= before + 2);
				lease.assertValid();
				return null;
			});
			free.countDown();
			assertThatThrownBy(() -> loser.get(60, TimeUnit.SECONDS)).isInstanceOf(ExecutionException.class);
		}
		finally {
			free.countDown();
			threads.shutdownNow();
		}
	}

	private static int renewals(FaultyProvider store) {
		return store.calls((call) -> call.op() == Op.RENEW && call.key().equals("other")).size();
	}

	@Test
	void renewalsAreCounted() {
		EngineListeners listeners = new EngineListeners(List.of(new MutexListener() {

			@Override
			public void renewed(int renewed, int failed) {
				assertThat(renewed * 10 + failed).isIn(12, 3);
			}

		}));
		try (Logged log = new Logged(MutexListener.class.getName())) {
			listeners.renewed(List.of(Renewal.RENEWED, Renewal.BUSY, Renewal.LOST));
			listeners.renewalFailed(3);
			assertThat(log.at(Level.WARN)).isEmpty();
		}
	}

	/**
	 * Throws whatever it is told.
	 */
	private static final class Thrower implements MutexListener {

		@Override
		public void acquisition(String key, String name, String outcome, Duration took) {
			throw new IllegalStateException("listener");
		}

		@Override
		public void granted(Lease lease) {
			throw new NoClassDefFoundError("listener");
		}

		@Override
		public void lost(Lease lease, String reason) {
			throw new IllegalStateException("listener");
		}

		@Override
		public void ended(Lease lease, Duration held) {
			throw new IllegalStateException("listener");
		}

		@Override
		public void renewed(int renewed, int failed) {
			throw new IllegalStateException("listener");
		}

		@Override
		public void run(Run run) {
			throw new IllegalStateException("listener");
		}

	}

}
