package io.mutex.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The threads of the engine.
 */
class TimedLoopTests {

	private static final String NAME = "loop-of-a-test";

	private final AtomicInteger runs = new AtomicInteger();

	private TimedLoop loop = new TimedLoop(NAME, () -> {
		this.runs.incrementAndGet();
		return TimedLoop.IDLE;
	});

	@AfterEach
	void stop() {
		this.loop.stop();
	}

	@Test
	void loopHasNoThreadUntilItIsWokenAndNoneOnceItIsStopped() {
		// that of the test before may still be about to end
		Awaitility.await().atMost(Engines.PATIENCE).until(() -> threads() == 0);
		this.loop.wakeWithin(1);
		Awaitility.await().atMost(Engines.PATIENCE).until(() -> this.runs.get() == 1);
		assertThat(threads()).isOne();
		this.loop.stop();
		Awaitility.await().atMost(Engines.PATIENCE).until(() -> threads() == 0);
		this.loop.wakeWithin(1);
		assertThat(threads()).isZero();
	}

	@Test
	void loopThatIsStoppedDuringItsWorkStartsNoThreadAgain() {
		CountDownLatch working = new CountDownLatch(1);
		CountDownLatch stopped = new CountDownLatch(1);
		this.loop = new TimedLoop(NAME, () -> {
			working.countDown();
			Engines.awaitUninterruptibly(stopped);
			return 1;
		});
		this.loop.wakeWithin(1);
		Engines.awaitUninterruptibly(working);
		this.loop.stop();
		stopped.countDown();
		Awaitility.await().atMost(Engines.PATIENCE).until(() -> threads() == 0);
	}

	@Test
	void earlierWakeWinsAndALaterOneDelaysNothing() {
		this.loop.wakeWithin(Duration.ofMinutes(5).toNanos());
		this.loop.wakeWithin(1);
		this.loop.wakeWithin(Duration.ofMinutes(5).toNanos());
		Awaitility.await().atMost(Engines.PATIENCE).until(() -> this.runs.get() == 1);
	}

	@Test
	void workThatThrowsIsDoneAgain() {
		this.loop = new TimedLoop(NAME, () -> {
			if (this.runs.incrementAndGet() < 3) {
				throw new NoClassDefFoundError("work");
			}
			return TimedLoop.IDLE;
		});
		this.loop.wakeWithin(1);
		Awaitility.await().atMost(Engines.PATIENCE).until(() -> this.runs.get() == 3);
	}

	@Test
	void interruptDoesNotEndTheLoop() {
		this.loop.wakeWithin(Duration.ofMinutes(5).toNanos());
		Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> thread.getName().equals(NAME))
			.forEach(Thread::interrupt);
		this.loop.wakeWithin(1);
		Awaitility.await().atMost(Engines.PATIENCE).until(() -> this.runs.get() >= 1);
		assertThat(threads()).isOne();
	}

	@Test
	void nothingThatIsThereBeforeTheLoopIsWokenIsLeft() throws Exception {
		Queue<Integer> waiting = new ConcurrentLinkedQueue<>();
		this.loop = new TimedLoop(NAME, () -> {
			while (waiting.poll() != null) {
				this.runs.incrementAndGet();
			}
			return TimedLoop.IDLE;
		});
		int each = 20_000;
		List<Thread> threads = new ArrayList<>();
		for (int i = 0; i < 4; i++) {
			Thread thread = new Thread(() -> {
				for (int item = 0; item < each; item++) {
					waiting.add(item);
					this.loop.wakeWithin(item % 100);
				}
			});
			thread.start();
			threads.add(thread);
		}
		for (Thread thread : threads) {
			thread.join();
		}
		Awaitility.await().atMost(Engines.PATIENCE).until(() -> this.runs.get() == 4 * each);
	}

	private static long threads() {
		return Thread.getAllStackTraces().keySet().stream().filter((thread) -> thread.getName().equals(NAME)).count();
	}

}
