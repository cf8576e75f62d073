package io.mutex.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;

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

	private final Engines engines = new Engines();

	private final WaitingLine line = new WaitingLine();

	@AfterEach
	void close() {
		this.engines.close();
	}

	@Test
	void firstInIsFirstOut() throws Exception {
		List<Integer> order = new CopyOnWriteArrayList<>();
		List<Future<?>> waiters = new ArrayList<>();
		assertThat(this.line.join("key", LONG)).isTrue();
		for (int i = 0; i < 5; i++) {
			int number = i;
			waiters.add(this.engines.threads.submit(() -> {
				assertThat(this.line.join("key", LONG)).isTrue();
				order.add(number);
				this.line.leave("key");
				return null;
			}));
			// counted as a member, and then a moment until it stands in the line
			Awaitility.await().atMost(Engines.PATIENCE).until(() -> this.line.waiting("key") == number + 2);
			Awaitility.await().atMost(Engines.PATIENCE).until(() -> Engines.standingInLine() == number + 1);
		}
		assertThat(order).isEmpty();
		this.line.leave("key");
		for (Future<?> waiter : waiters) {
			waiter.get();
		}
		assertThat(order).containsExactly(0, 1, 2, 3, 4);
		assertThat(this.line.isEmpty("key")).isTrue();
	}

	@Test
	void newcomerDoesNotOvertakeAWaiterThatIsJustBeingWoken() throws Exception {
		for (int round = 0; round < 20; round++) {
			assertThat(this.line.join("key", LONG)).isTrue();
			CountDownLatch overtaken = new CountDownLatch(1);
			Future<?> waiter = this.engines.threads.submit(() -> {
				assertThat(this.line.join("key", LONG)).isTrue();
				Engines.await(overtaken);
				this.line.leave("key");
				return null;
			});
			Awaitility.await().atMost(Engines.PATIENCE).until(() -> Engines.standingInLine() == 1);
			this.line.leave("key");
			assertThat(this.line.join("key", 0)).isFalse();
			overtaken.countDown();
			waiter.get();
		}
	}

	@Test
	void waiterThatGivesUpLeavesNoTrace() throws InterruptedException {
		assertThat(this.line.join("key", LONG)).isTrue();
		assertThat(this.line.join("key", Duration.ofMillis(20).toNanos())).isFalse();
		assertThat(this.line.waiting("key")).isOne();
		this.line.leave("key");
		assertThat(this.line.isEmpty("key")).isTrue();
		assertThat(this.line.join("key", 0)).isTrue();
		this.line.leave("key");
	}

	@Test
	void waiterThatIsInterruptedLeavesNoTrace() throws InterruptedException {
		assertThat(this.line.join("key", LONG)).isTrue();
		Thread.currentThread().interrupt();
		assertThatExceptionOfType(InterruptedException.class).isThrownBy(() -> this.line.join("key", LONG));
		assertThat(this.line.waiting("key")).isOne();
		this.line.leave("key");
		assertThat(this.line.isEmpty("key")).isTrue();
	}

	@Test
	void releaseOfTheKeyEndsAPauseAlsoWhenItCameBefore() throws InterruptedException {
		assertThat(this.line.join("key", LONG)).isTrue();
		this.line.released("key");
		this.line.released("key");
		long start = System.nanoTime();
		this.line.pause("key", LONG);
		assertThat(System.nanoTime() - start).isLessThan(LONG / 2);
		start = System.nanoTime();
		this.line.pause("key", Duration.ofMillis(100).toNanos());
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(Duration.ofMillis(90));
		this.line.released("another");
		this.line.wakeAll();
		start = System.nanoTime();
		this.line.pause("key", LONG);
		assertThat(System.nanoTime() - start).isLessThan(LONG / 2);
		this.line.leave("key");
	}

	@Test
	void keysDoNotWaitForEachOther() throws InterruptedException {
		assertThat(this.line.join("a", 0)).isTrue();
		assertThat(this.line.join("b", 0)).isTrue();
		this.line.leave("a");
		this.line.leave("b");
		assertThat(this.line.isEmpty("a") && this.line.isEmpty("b")).isTrue();
	}

}
