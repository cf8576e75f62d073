package io.mutex.proof;

import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

import io.mutex.LeaseLostException;
import io.mutex.Leases;
import io.mutex.LockRequest;
import io.mutex.MutexTemplate;
import io.mutex.RunResult;
import io.mutex.engine.EngineSettings;
import io.mutex.engine.LockEngine;
import io.mutex.run.Outcome;
import io.mutex.run.Owner;
import io.mutex.run.RunRecord.Status;
import io.mutex.run.RunUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Single runs of code without annotations, by two instances on each store.
 */
@TestInstance(Lifecycle.PER_CLASS)
class TemplateTests {

	@TempDir
	static Path directory;

	private final Map<Store, Pair> pairs = new EnumMap<>(Store.class);

	@AfterAll
	void close() {
		this.pairs.values().forEach(Pair::close);
	}

	@ParameterizedTest
	@EnumSource
	void secondInstanceIsToldByWhomAndWhen(Store store) {
		Pair pair = pair(store);
		LockRequest request = request("1");
		RunResult<String> first = pair.one.singleRun(request, (lease) -> "value");
		assertThat(first.outcome()).isEqualTo(Outcome.EXECUTED);
		assertThat(first.value()).isEqualTo("value");
		RunResult<String> second = pair.other.singleRun(request, (lease) -> "never");
		assertThat(second.outcome()).isEqualTo(Outcome.SKIPPED_DONE);
		assertThat(second.value()).isNull();
		assertThat(second.record()).isNotNull();
		assertThat(second.record().owner().instance()).isEqualTo("one");
		assertThat(second.reason()).contains("succeeded by one");
		assertThat(pair.other.singleRun(request.withUnit(RunUnit.of("2")), (lease) -> "next").outcome())
			.isEqualTo(Outcome.EXECUTED);
	}

	@ParameterizedTest
	@EnumSource
	void heldKeyIsSkippedOrWaitedFor(Store store) throws Exception {
		Pair pair = pair(store);
		LockRequest request = request("1");
		CountDownLatch begun = new CountDownLatch(1);
		CountDownLatch end = new CountDownLatch(1);
		CompletableFuture<Outcome> running = CompletableFuture
			.supplyAsync(() -> pair.one.<String, RuntimeException>singleRun(request, (lease) -> {
				begun.countDown();
				awaitUnchecked(end);
				return "value";
			}).outcome());
		begun.await();
		RunResult<String> skipped = pair.other.singleRun(request, (lease) -> "never");
		assertThat(skipped.outcome()).isEqualTo(Outcome.SKIPPED_HELD);
		assertThat(skipped.holder()).extracting(Owner::instance).isEqualTo("one");
		CompletableFuture<Outcome> waiting = CompletableFuture.supplyAsync(() -> pair.other
			.<String, RuntimeException>singleRun(request.withWaitFor(Duration.ofMinutes(1)), (lease) -> "never")
			.outcome());
		Awaitility.await().atMost(Site.PATIENCE).until(() -> pair.otherEngine().waiting(request.key()) > 0);
		end.countDown();
		assertThat(running.get()).isEqualTo(Outcome.EXECUTED);
		assertThat(waiting.get()).isEqualTo(Outcome.SKIPPED_DONE);
	}

	@ParameterizedTest
	@EnumSource
	void failureLeavesTheUnitOpen(Store store) {
		Pair pair = pair(store);
		LockRequest request = request("1");
		assertThatIllegalStateException().isThrownBy(() -> pair.one.singleRun(request, (lease) -> {
			throw new IllegalStateException("of the body");
		})).withMessage("of the body");
		assertThat(pair.site.provider.runs(request.key(), 9)).singleElement()
			.satisfies((run) -> assertThat(run.status()).isEqualTo(Status.FAILED))
			.satisfies((run) -> assertThat(run.error()).contains("IllegalStateException: of the body"));
		assertThat(pair.other.singleRun(request, (lease) -> "value").outcome()).isEqualTo(Outcome.EXECUTED);
	}

	@ParameterizedTest
	@EnumSource
	void conditionIsAskedUnderTheLockAndBeforeADoubt(Store store) {
		Pair pair = pair(store);
		LockRequest request = inDoubt(pair).withSkipInDoubt(true);
		RunResult<String> reported = pair.other.singleRun(request.withUnless(() -> false), (lease) -> "never");
		assertThat(reported.outcome()).isEqualTo(Outcome.SKIPPED_IN_DOUBT);
		RunResult<String> done = pair.other.singleRun(request.withUnless(() -> {
			assertThat(Leases.find(request.key())).isPresent();
			return true;
		}), (lease) -> "never");
		assertThat(done.outcome()).isEqualTo(Outcome.SKIPPED_DONE);
		assertThat(pair.one.singleRun(request, (lease) -> "never").outcome()).isEqualTo(Outcome.SKIPPED_DONE);
	}

	@ParameterizedTest
	@EnumSource
	void doubtIsReportedOrRunAgain(Store store) {
		Pair pair = pair(store);
		LockRequest request = inDoubt(pair);
		for (MutexTemplate instance : new MutexTemplate[] { pair.one, pair.other }) {
			RunResult<String> reported = instance.singleRun(request.withSkipInDoubt(true), (lease) -> "never");
			assertThat(reported.outcome()).isEqualTo(Outcome.SKIPPED_IN_DOUBT);
			assertThat(reported.record()).isNotNull();
			assertThat(reported.record().status()).isEqualTo(Status.IN_DOUBT);
		}
		assertThat(pair.other.singleRun(request, (lease) -> "value").outcome()).isEqualTo(Outcome.EXECUTED);
		assertThat(pair.one.singleRun(request.withSkipInDoubt(true), (lease) -> "never").outcome())
			.isEqualTo(Outcome.SKIPPED_DONE);
	}

	@ParameterizedTest
	@DisplayName("C19 the record of a stage is written when it completes, and its key held until then")
	@EnumSource
	void recordOfAStageIsWrittenWhenItCompletes(Store store) throws Exception {
		Pair pair = pair(store);
		LockRequest request = request("1");
		CompletableFuture<String> work = new CompletableFuture<>();
		RunResult<CompletableFuture<String>> started = pair.one.singleRun(request, (lease) -> work);
		assertThat(started.outcome()).isEqualTo(Outcome.EXECUTED);
		assertThat(pair.site.provider.runs(request.key(), 9)).isEmpty();
		assertThat(pair.other.singleRun(request, (lease) -> "never").outcome()).isEqualTo(Outcome.SKIPPED_HELD);
		work.complete("value");
		assertThat(started.value()).isNotNull();
		assertThat(started.value().get()).isEqualTo("value");
		assertThat(pair.other.singleRun(request, (lease) -> "never").outcome()).isEqualTo(Outcome.SKIPPED_DONE);
	}

	@ParameterizedTest
	@DisplayName("C19 a stage that fails leaves its unit open")
	@EnumSource
	void stageThatFailsLeavesItsUnitOpen(Store store) {
		Pair pair = pair(store);
		LockRequest request = request("1");
		CompletableFuture<String> work = new CompletableFuture<>();
		RunResult<CompletableFuture<String>> started = pair.one.singleRun(request, (lease) -> work);
		work.completeExceptionally(new IllegalStateException("of the stage"));
		assertThat(started.value()).isNotNull();
		assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> started.value().join())
			.withMessageContaining("of the stage");
		assertThat(pair.site.provider.runs(request.key(), 9)).singleElement()
			.satisfies((run) -> assertThat(run.status()).isEqualTo(Status.FAILED));
		assertThat(pair.other.singleRun(request, (lease) -> "value").outcome()).isEqualTo(Outcome.EXECUTED);
	}

	@ParameterizedTest
	@EnumSource
	void rollingPeriodCountsFromTheStartOfTheLastSuccess(Store store) {
		Pair pair = pair(store);
		LockRequest request = request("1").withUnit(RunUnit.rolling(Duration.ofHours(1)));
		AtomicInteger runs = new AtomicInteger();
		assertThat(pair.one.singleRun(request, (lease) -> runs.incrementAndGet()).outcome())
			.isEqualTo(Outcome.EXECUTED);
		assertThat(pair.other.singleRun(request, (lease) -> runs.incrementAndGet()).outcome())
			.isEqualTo(Outcome.SKIPPED_DONE);
		LockRequest shorter = request.withUnit(RunUnit.rolling(Duration.ofNanos(1_000_000)));
		// the period may not be over yet
		Awaitility.await()
			.atMost(Site.PATIENCE)
			.until(() -> pair.other.singleRun(shorter, (lease) -> runs.incrementAndGet()).outcome(),
					Outcome.EXECUTED::equals);
		assertThat(runs).hasValue(2);
	}

	// What the end of a process leaves at the next grant, at once.
	private static LockRequest inDoubt(Pair pair) {
		LockRequest request = request("1");
		assertThatExceptionOfType(LeaseLostException.class).isThrownBy(() -> pair.one.singleRun(request,
				(lease) -> pair.site.provider.release(request.key(), lease.nonce(), true)));
		return request;
	}

	private static LockRequest request(String unit) {
		return LockRequest.of("key-" + UUID.randomUUID()).withUnit(RunUnit.of(unit)).withLease(Duration.ofSeconds(60));
	}

	private static void awaitUnchecked(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private Pair pair(Store store) {
		return this.pairs.computeIfAbsent(store, (name) -> new Pair(Site.of(name, directory)));
	}

	/**
	 * Two instances on one store.
	 */
	private static final class Pair implements AutoCloseable {

		private final Site site;

		private final MutexTemplate one;

		private final MutexTemplate other;

		Pair(Site site) {
			this.site = site;
			this.one = new LockEngine(site.provider, EngineSettings.defaults("one"), List.of());
			this.other = new LockEngine(site.provider, EngineSettings.defaults("other"), List.of());
		}

		LockEngine otherEngine() {
			return (LockEngine) this.other;
		}

		@Override
		public void close() {
			((LockEngine) this.one).close();
			((LockEngine) this.other).close();
			this.site.close();
		}

	}

}
