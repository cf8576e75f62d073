package io.mutex.engine;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;

import io.mutex.LockProvider.Grant;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The line of one key in this process.
 */
class WaitingLineTests {

	private static final long LONG = Engines.PATIENCE.toNanos();

	private static final Duration TTL = Duration.ofSeconds(30);

	private final Engines engines = new Engines();

	private final WaitingLine line = new WaitingLine();

	@AfterEach
	void close() {
		this.engines.close();
	}

	@Test
	void firstInIsFirstOut() {
		Deque<Waiter> waiters = new ArrayDeque<>();
		for (int i = 0; i < 5; i++) {
			waiters.add(join());
		}
		while (!waiters.isEmpty()) {
			Waiter first = waiters.peek();
			assertThat(waiters).filteredOn(Waiter::isFirst).containsExactly(first);
			assertThat(waiters).filteredOn(this.line::ask).containsExactly(first);
			this.line.leave(waiters.remove(), true);
		}
		assertThat(this.line.waiting("key")).isZero();
	}

	@Test
	void waiterThatGivesUpLeavesNoTraceWhereverItStands() throws Exception {
		Waiter first = join();
		Waiter second = join();
		Waiter third = join();
		this.line.leave(second, true);
		this.line.leave(second, true);
		assertThat(this.line.waiting("key")).isEqualTo(2);
		assertThat(third.isFirst()).isFalse();
		this.line.leave(first, true);
		assertThat(third.isFirst()).isTrue();
		assertThat(third.await(LONG)).isNull();
		this.line.leave(third, true);
		assertThat(this.line.waiting("key")).isZero();
		assertThat(join().isFirst()).isTrue();
	}

	@Test
	void nextIsWokenOnlyIfTheKeyMayBeFree() throws Exception {
		Waiter first = join();
		Waiter second = join();
		this.line.leave(first, false);
		assertThat(second.isFirst()).isTrue();
		long start = System.nanoTime();
		assertThat(second.await(Duration.ofMillis(100).toNanos())).isNull();
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(Duration.ofMillis(90));
	}

	@Test
	void waiterThatIsInterruptedSaysSoAndLeavesNoTrace() {
		Waiter waiter = join();
		Thread.currentThread().interrupt();
		assertThatExceptionOfType(InterruptedException.class).isThrownBy(() -> waiter.await(LONG));
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
		assertThat(this.line.leave(waiter, true)).isNull();
		assertThat(this.line.waiting("key")).isZero();
	}

	@Test
	void releaseOfTheKeyEndsTheWaitAlsoWhenItCameBefore() throws Exception {
		Waiter waiter = join();
		this.line.released("key");
		this.line.released("key");
		assertThat(waiter.await(LONG)).isNull();
		long start = System.nanoTime();
		this.line.released("another");
		assertThat(waiter.await(Duration.ofMillis(100).toNanos())).isNull();
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(Duration.ofMillis(90));
		this.line.ask(waiter);
		this.line.released("key");
		this.line.refused(waiter);
		assertThat(waiter.await(LONG)).isNull();
		this.line.wakeAll();
		assertThat(waiter.await(LONG)).isNull();
	}

	@Test
	void turnGoesToTheFirstWhoTakesItOnceAndNotWhileItAsks() throws Exception {
		assertThat(handOver(2)).isFalse();
		Waiter first = join();
		Waiter second = join();
		this.line.ask(first);
		assertThat(handOver(2)).isFalse();
		this.line.refused(first);
		assertThat(handOver(2)).isTrue();
		assertThat(first.await(LONG).token()).isEqualTo(2);
		assertThat(second.isFirst()).isTrue();
		assertThat(this.line.ask(first)).isFalse();
		assertThat(this.line.waiting("key")).isOne();
		assertThat(handOver(3)).isTrue();
		assertThat(this.line.leave(second, true).token()).isEqualTo(3);
		assertThat(this.line.leave(first, true).token()).isEqualTo(2);
		assertThat(this.line.waiting("key")).isZero();
		assertThat(handOver(4)).isFalse();
	}

	@Test
	void turnIsNotHandedToWhoLeftOrWhoseTimeIsOverOrWhoWantsAnotherLease() {
		Waiter gone = join();
		this.line.leave(gone, true);
		assertThat(handOver(2)).isFalse();
		Waiter late = this.line.join("key", TTL, System.nanoTime() - 1);
		assertThat(handOver(2)).isFalse();
		this.line.leave(late, true);
		Waiter longer = this.line.join("key", TTL.plusMillis(1), System.nanoTime() + LONG);
		assertThat(handOver(2)).isFalse();
		this.line.leave(longer, true);
		Waiter own = this.line.join("key", null, System.nanoTime() + LONG);
		assertThat(handOver(2)).isFalse();
		assertThat(this.line.leave(own, true)).isNull();
	}

	@Test
	void turnThatComesWithAnInterruptIsNotLost() throws Exception {
		for (int round = 0; round < 200; round++) {
			AtomicReference<Thread> thread = new AtomicReference<>();
			Future<Boolean> waiter = this.engines.threads.submit(() -> {
				thread.set(Thread.currentThread());
				Waiter self = join();
				try {
					return self.await(LONG) != null;
				}
				catch (InterruptedException ex) {
					return this.line.leave(self, true) != null;
				}
			});
			Awaitility.await().pollInterval(Duration.ofNanos(1)).until(() -> this.line.waiting("key") == 1);
			Future<Boolean> holder = this.engines.threads.submit(() -> handOver(2));
			thread.get().interrupt();
			assertThat(waiter.get()).isEqualTo(holder.get());
			assertThat(this.line.waiting("key")).isZero();
		}
	}

	@Test
	void keysDoNotWaitForEachOther() {
		Waiter a = this.line.join("a", TTL, System.nanoTime() + LONG);
		Waiter b = this.line.join("b", TTL, System.nanoTime() + LONG);
		assertThat(this.line.ask(a) && this.line.ask(b)).isTrue();
		this.line.leave(a, true);
		this.line.leave(b, true);
		assertThat(this.line.waiting("a") + this.line.waiting("b")).isZero();
	}

	private Waiter join() {
		return this.line.join("key", TTL, System.nanoTime() + LONG);
	}

	private boolean handOver(long token) {
		Grant grant = new Grant("key", "0".repeat(32), 64, TTL);
		Turn turn = new Turn(grant, token, Validity.sentNow(TimeSource.SYSTEM, TTL), System.nanoTime() + LONG, true);
		return this.line.handOver("key", turn, System.nanoTime());
	}

}
