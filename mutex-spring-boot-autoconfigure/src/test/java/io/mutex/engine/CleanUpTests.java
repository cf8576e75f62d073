package io.mutex.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.mutex.LockRequest;
import io.mutex.Purged;
import io.mutex.engine.FaultyProvider.Op;
import io.mutex.fence.MemoryGuard;
import io.mutex.run.RunRecord.Status;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link CleanUp}.
 */
class CleanUpTests {

	private static final Duration FIRST = Duration.ofMinutes(21);

	private final Engines engines = new Engines();

	@AfterEach
	void close() {
		this.engines.close();
	}

	@Test
	void nothingIsRemovedInTheFirstMinutesNorWithoutWork() {
		work();
		this.engines.time.pass(Duration.ofMinutes(9));
		work();
		this.engines.time.pass(Duration.ofDays(3));
		assertThat(this.engines.store.calls((call) -> call.op() == Op.PURGE || call.key().equals(CleanUp.KEY)))
			.isEmpty();
	}

	@Test
	void workThatEndsLaterBringsItAboutOnceADay() {
		this.engines.time.pass(FIRST);
		work();
		awaitPurges(1);
		work();
		this.engines.time.pass(Duration.ofHours(23));
		work();
		assertThat(this.engines.store.calls(Op.PURGE)).hasSize(1);
		this.engines.store.reopen(CleanUp.KEY, "~");
		this.engines.time.pass(Duration.ofHours(3));
		work();
		awaitPurges(2);
	}

	@Test
	void oneInstanceDoesItForAll() {
		this.engines.time.pass(FIRST);
		work();
		awaitDone();
		SettableTime later = new SettableTime();
		try (LockEngine other = Engines.engine(this.engines.store, later)) {
			later.pass(FIRST);
			other.execute(LockRequest.of("other"), (lease) -> true);
			Awaitility.await()
				.until(() -> this.engines.store
					.calls((call) -> call.op() == Op.ACQUIRE && call.key().equals(CleanUp.KEY))
					.size() == 2);
		}
		assertThat(this.engines.store.calls(Op.PURGE)).hasSize(1);
	}

	@Test
	void guardsAreCleanedUpInBatchesAfterTheStore() {
		List<String> asked = new CopyOnWriteArrayList<>();
		this.engines.engine.guardBy(List.of(new MemoryGuard() {

			@Override
			public Purged purge(Duration idle, @Nullable String after, int limit) {
				asked.add(idle + " " + after);
				return new Purged(1, (after != null) ? null : "a");
			}

		}));
		this.engines.time.pass(FIRST);
		work();
		awaitDone();
		assertThat(asked).containsExactly(Duration.ofDays(90) + " null", Duration.ofDays(90) + " a");
	}

	@Test
	void batchesFollowEachOtherOnAThreadOfTheEngine() {
		this.engines.store.next(Op.PURGE, FaultyProvider.answering((answer) -> new Purged(500, "a")),
				FaultyProvider.answering((answer) -> new Purged(500, "b")));
		this.engines.time.pass(FIRST);
		work();
		awaitDone();
		assertThat(this.engines.store.calls(Op.PURGE)).extracting(FaultyProvider.Call::key)
			.containsExactly("null", "a", "b");
		assertThat(this.engines.store.calls(Op.PURGE)).extracting(FaultyProvider.Call::thread)
			.containsOnly("mutex-background");
	}

	@Test
	void failureIsLoggedAndTheNextDayTriesAgain() {
		this.engines.store.next(Op.PURGE, FaultyProvider.DOWN);
		this.engines.time.pass(FIRST);
		work();
		Awaitility.await().until(() -> !this.engines.store.calls(Op.PURGE).isEmpty());
		Awaitility.await().until(() -> this.engines.store.lock(CleanUp.KEY).isEmpty());
		assertThat(this.engines.store.runs(CleanUp.KEY, 1)).isEmpty();
		this.engines.time.pass(Duration.ofHours(26));
		work();
		awaitDone();
	}

	@Test
	void closedEngineStopsBetweenBatches() {
		this.engines.store.always(Op.PURGE, (call, store) -> {
			this.engines.engine.close();
			return new Purged(500, "more");
		});
		this.engines.time.pass(FIRST);
		work();
		Awaitility.await()
			.until(() -> this.engines.store.lock(CleanUp.KEY).isEmpty()
					&& !this.engines.store.calls(Op.PURGE).isEmpty());
		assertThat(this.engines.store.calls(Op.PURGE)).hasSize(1);
		assertThat(this.engines.store.runs(CleanUp.KEY, 1)).isEmpty();
	}

	private void work() {
		this.engines.engine.execute(LockRequest.of("work"), (lease) -> true);
	}

	private void awaitPurges(int number) {
		Awaitility.await().until(() -> this.engines.store.calls(Op.PURGE).size() == number);
		awaitDone();
	}

	private void awaitDone() {
		Awaitility.await()
			.until(() -> this.engines.store.lock(CleanUp.KEY).isEmpty()
					&& !this.engines.store.runs(CleanUp.KEY, 1).isEmpty());
		assertThat(this.engines.store.runs(CleanUp.KEY, 1)).allMatch((run) -> run.status() == Status.DONE);
	}

}
