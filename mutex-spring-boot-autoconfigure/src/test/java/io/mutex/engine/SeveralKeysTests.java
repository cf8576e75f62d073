package io.mutex.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

import io.mutex.Lease;
import io.mutex.LeaseLostException;
import io.mutex.Leases;
import io.mutex.LockNotAcquiredException;
import io.mutex.LockRequest;
import io.mutex.engine.FaultyProvider.Call;
import io.mutex.engine.FaultyProvider.Op;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Several keys at once.
 */
class SeveralKeysTests {

	private final Engines engines = new Engines();

	private final FaultyProvider store = this.engines.store;

	private final LockEngine engine = this.engines.engine;

	private final AtomicInteger runs = new AtomicInteger();

	@AfterEach
	void close() {
		this.engines.close();
	}

	@Test
	void keysAreTakenInTheirOrderAndReleasedInTheOppositeOne() {
		List<Lease> leases = this.engine.acquireAll(List.of("c", "a", "b", "a"), Duration.ZERO, (held) -> {
			assertThat(Leases.all()).containsExactly(held.get(2), held.get(1), held.get(0));
			return held;
		});
		assertThat(leases).extracting(Lease::key).containsExactly("a", "b", "c");
		assertThat(this.store.calls(Op.ACQUIRE)).extracting(Call::key).containsExactly("a", "b", "c");
		assertThat(this.store.calls(Op.RELEASE)).extracting(Call::key).containsExactly("c", "b", "a");
	}

	@Test
	void oneThatIsHeldLeavesTheOthersFreeAndRunsNothing() {
		this.engines.other().execute(LockRequest.of("b"), (lease) -> {
			assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> run(Duration.ZERO))
				.satisfies((ex) -> assertThat(ex.getKey()).isEqualTo("b"));
			assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> run(Duration.ofMillis(200)));
			assertThat(this.store.lock("a")).isEmpty();
			return null;
		});
		assertThat(this.runs).hasValue(0);
	}

	@Test
	void waitingTimeIsThatOfAllKeysTogether() throws Exception {
		CountDownLatch held = new CountDownLatch(1);
		CountDownLatch free = new CountDownLatch(1);
		this.engines.threads.submit(() -> this.engines.other().execute(LockRequest.of("a"), (lease) -> {
			held.countDown();
			Engines.await(free);
			return null;
		}));
		Engines.await(held);
		// the answer that grants the first key comes when the time is over
		this.store.always(Op.ACQUIRE, (call, acquire) -> {
			if (call.key().equals("a")) {
				free.countDown();
				Awaitility.await().pollDelay(Duration.ofMillis(400)).until(() -> true);
			}
			return acquire.get();
		});
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> run(Duration.ofMillis(300)));
		assertThat(this.store.calls((call) -> call.key().equals("b"))).isEmpty();
		assertThat(this.store.lock("a")).isEmpty();
		assertThat(this.runs).hasValue(0);
	}

	@Test
	void callersThatNameTheKeysInOppositeOrdersDoNotWaitForEachOther() throws Exception {
		List<Future<?>> callers = List.of(caller(List.of("a", "b")), caller(List.of("b", "a")));
		for (Future<?> each : callers) {
			each.get();
		}
		assertThat(this.runs).hasValue(100);
	}

	private Future<?> caller(List<String> keys) {
		return this.engines.threads.submit(() -> {
			for (int i = 0; i < 50; i++) {
				this.engine.acquireAll(keys, Engines.PATIENCE, (leases) -> this.runs.incrementAndGet());
			}
			return null;
		});
	}

	@Test
	void lossOfOneOfThemIsLoud() {
		assertThatExceptionOfType(LeaseLostException.class)
			.isThrownBy(() -> this.engine.acquireAll(List.of("a", "b"), Duration.ZERO, (leases) -> {
				this.store.forceRelease("a");
				return null;
			}))
			.satisfies((ex) -> assertThat(ex.getKey()).isEqualTo("a"));
		assertThat(this.store.locks(10)).isEmpty();
	}

	@Test
	void allAreHeldUntilAStageCompletes() throws Exception {
		CompletableFuture<String> stage = new CompletableFuture<>();
		CompletableFuture<String> result = this.engine.acquireAll(List.of("a", "b"), Duration.ZERO, (leases) -> stage);
		assertThat(this.store.locks(10)).hasSize(2);
		stage.complete("value");
		assertThat(result.get()).isEqualTo("value");
		Awaitility.await().atMost(Engines.PATIENCE).until(() -> this.store.locks(10).isEmpty());
	}

	@Test
	void requestsThatContradictEachOtherAreRefused() {
		LockRequest a = LockRequest.of("a");
		assertThatIllegalArgumentException().isThrownBy(() -> this.engine
			.executeAll(List.of(a, a.withLease(Duration.ofSeconds(5))), Duration.ZERO, (leases) -> null));
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.engine.acquireAll(List.of(), Duration.ZERO, (leases) -> null));
		assertThatIllegalArgumentException().isThrownBy(() -> run(Duration.ofMillis(-1)));
		assertThat(this.store.calls).isEmpty();
	}

	private void run(Duration waitFor) {
		this.engine.acquireAll(List.of("a", "b"), waitFor, (leases) -> this.runs.incrementAndGet());
	}

}
