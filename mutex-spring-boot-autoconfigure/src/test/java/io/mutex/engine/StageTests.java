package io.mutex.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;

import io.mutex.LeaseCallback;
import io.mutex.LeaseLostException;
import io.mutex.LockNotAcquiredException;
import io.mutex.LockRequest;
import io.mutex.RunResult;
import io.mutex.engine.FaultyProvider.Op;
import io.mutex.run.Outcome;
import io.mutex.run.RunRecord;
import io.mutex.run.RunRecord.Status;
import io.mutex.run.RunUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Work that goes on after its method has returned a stage.
 */
@DisplayName("C19 S8 work that goes on after its method has returned a stage")
class StageTests {

	private static final LockRequest RUN = LockRequest.of("key").withUnit(RunUnit.of("1"));

	private final Engines engines = new Engines();

	private final FaultyProvider store = this.engines.store;

	private final LockEngine engine = this.engines.engine;

	private final CompletableFuture<String> work = new CompletableFuture<>();

	@AfterEach
	void close() {
		this.engines.close();
	}

	@Test
	@DisplayName("C19 the key is held, and nothing recorded, until the stage completes")
	void keyIsHeldUntilTheStageCompletes() {
		CompletableFuture<String> result = start();
		assertThat(this.store.lock("key")).isPresent();
		assertThat(this.store.runs("key", 9)).isEmpty();
		assertThatExceptionOfType(LockNotAcquiredException.class)
			.isThrownBy(() -> this.engine.execute(LockRequest.of("key"), (lease) -> "never"));
		assertThat(result).isNotDone();
		assertThat(this.engines.events.runs).isEmpty();
		this.work.complete("value");
		assertThat(result).succeedsWithin(Engines.PATIENCE).isEqualTo("value");
		assertThat(this.store.lock("key")).isEmpty();
		assertThat(status()).isEqualTo(Status.DONE);
		assertThat(this.engines.events.outcomes()).containsExactly(Outcome.EXECUTED);
	}

	@Test
	@DisplayName("C19 a stage that fails is not a success")
	void stageThatFailsIsNotASuccess() {
		CompletableFuture<String> result = start();
		this.work.completeExceptionally(new IllegalStateException("work"));
		assertThatThrownBy(result::join).isInstanceOf(CompletionException.class)
			.hasCauseInstanceOf(IllegalStateException.class);
		assertThat(status()).isEqualTo(Status.FAILED);
		assertThat(this.store.lock("key")).isEmpty();
		assertThat(this.engines.events.outcomes()).containsExactly(Outcome.FAILED);
	}

	@Test
	@DisplayName("C19 cancelling the result cancels the stage, which is not a success")
	void cancellingTheResultCancelsTheStage() {
		CompletableFuture<String> result = start();
		assertThat(result.cancel(true)).isTrue();
		assertThat(this.work).isCancelled();
		Awaitility.await().atMost(Engines.PATIENCE).until(() -> !this.engines.events.runs.isEmpty());
		assertThat(status()).isEqualTo(Status.FAILED);
		assertThat(this.store.lock("key")).isEmpty();
	}

	@Test
	@DisplayName("C19 a loss cancels the stage and interrupts no thread")
	void lossCancelsTheStageAndInterruptsNoThread() {
		CompletableFuture<String> result = start();
		this.engines.time.stepWall(Duration.ofHours(1));
		assertThatThrownBy(result::join)
			.satisfies((ex) -> assertThat(ex.getSuppressed()).hasAtLeastOneElementOfType(LeaseLostException.class));
		assertThat(this.work).isCancelled();
		assertThat(Thread.interrupted()).isFalse();
		assertThat(this.store.calls(Op.COMPLETE)).isEmpty();
		assertThat(status()).isEqualTo(Status.IN_DOUBT);
		assertThat(this.engines.events.outcomes()).containsExactly(Outcome.LEASE_LOST);
		assertThat(this.engine.leases()).isEmpty();
	}

	@Test
	@DisplayName("C19 a stage that never completes is bounded by the longest hold")
	void stageThatNeverCompletesIsBoundedByTheLongestHold() {
		CompletableFuture<String> result = start(RUN.withMaxHold(Duration.ofMillis(300)));
		assertThatThrownBy(result::join).isNotNull();
		assertThat(this.work).isCancelled();
		assertThat(this.store.lock("key")).isEmpty();
	}

	@Test
	void stageThatSucceedsAfterTheLossIsLost() {
		RunResult<CompletionStage<String>> run = this.engine.singleRun(RUN,
				(lease) -> this.work.minimalCompletionStage());
		this.engines.time.stepWall(Duration.ofHours(1));
		Awaitility.await().atMost(Engines.PATIENCE).until(() -> !this.engines.events.lost.isEmpty());
		this.work.complete("late");
		assertThatThrownBy(() -> future(run).join()).hasCauseInstanceOf(LeaseLostException.class);
		assertThat(status()).isEqualTo(Status.IN_DOUBT);
	}

	@Test
	void settlementDoesNotRunOnTheThreadThatCompletes() {
		CompletableFuture<String> result = start();
		this.work.complete("value");
		assertThat(result).succeedsWithin(Engines.PATIENCE);
		assertThat(this.store.calls(Op.COMPLETE)).singleElement()
			.satisfies((call) -> assertThat(call.thread()).isEqualTo("mutex-background"));
	}

	@Test
	void whatDependsOnACancelledStageDelaysNoOtherLoss() {
		CountDownLatch blocked = new CountDownLatch(1);
		CountDownLatch free = new CountDownLatch(1);
		this.work.whenComplete((value, failure) -> {
			blocked.countDown();
			Engines.awaitUninterruptibly(free);
		});
		// long leases, so that no renewal notices the loss
		Duration lease = Duration.ofMinutes(10);
		start(RUN.withLease(lease).withMaxHold(Duration.ofMillis(100)));
		Engines.awaitUninterruptibly(blocked);
		LockRequest other = LockRequest.of("other").withLease(lease).withMaxHold(Duration.ofMillis(100));
		assertThatExceptionOfType(LeaseLostException.class).isThrownBy(() -> this.engine.execute(other, (held) -> {
			Awaitility.await().atMost(Engines.PATIENCE.dividedBy(2)).until(() -> this.engines.events.lost.size() == 2);
			return null;
		}));
		free.countDown();
		Thread.interrupted();
	}

	@Test
	void stageThatIsCompleteAlreadyIsRecordedToo() {
		this.work.complete("value");
		assertThat(start()).succeedsWithin(Engines.PATIENCE).isEqualTo("value");
		assertThat(status()).isEqualTo(Status.DONE);
	}

	@Test
	void lockIsHeldUntilTheStageCompletesToo() {
		CompletionStage<String> result = this.engine.execute(LockRequest.of("key"), (lease) -> this.work);
		assertThat(this.store.lock("key")).isPresent();
		this.work.complete("value");
		assertThat(result.toCompletableFuture()).succeedsWithin(Engines.PATIENCE);
		assertThat(this.store.lock("key")).isEmpty();
	}

	@Test
	void whatDependsOnResultsMayWaitForOtherProtectedStages() {
		// more than there are threads that talk to the store
		List<CompletableFuture<String>> results = IntStream.range(0, 8).mapToObj((i) -> {
			LockRequest first = LockRequest.of("first " + i);
			LockRequest second = LockRequest.of("second " + i);
			return this.engine.execute(first, (lease) -> this.work).thenApply((value) -> {
				LeaseCallback<CompletableFuture<String>, RuntimeException> more = (lease) -> CompletableFuture
					.completedFuture(value);
				return this.engine.execute(second, more).join();
			});
		}).toList();
		this.work.complete("value");
		assertThat(CompletableFuture.allOf(results.toArray(CompletableFuture[]::new))).succeedsWithin(Engines.PATIENCE);
		assertThat(this.store.locks(99)).isEmpty();
	}

	private CompletableFuture<String> start() {
		return start(RUN);
	}

	private CompletableFuture<String> start(LockRequest request) {
		return future(this.engine.singleRun(request, (lease) -> this.work));
	}

	private static CompletableFuture<String> future(RunResult<? extends CompletionStage<String>> run) {
		CompletionStage<String> stage = run.value();
		assertThat(stage).isNotNull();
		return stage.toCompletableFuture();
	}

	private Status status() {
		return this.store.runs("key", 9).stream().map(RunRecord::status).findFirst().orElseThrow();
	}

}
