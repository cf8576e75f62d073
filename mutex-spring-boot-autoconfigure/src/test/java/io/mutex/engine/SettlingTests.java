package io.mutex.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import ch.qos.logback.classic.Level;
import io.mutex.LockRequest;
import io.mutex.MutexException;
import io.mutex.RunResult;
import io.mutex.engine.FaultyProvider.Call;
import io.mutex.engine.FaultyProvider.Op;
import io.mutex.memory.MemoryLockProvider;
import io.mutex.run.Outcome;
import io.mutex.run.RunRecord.Status;
import io.mutex.run.RunUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * How a lease ends with its body, whatever the body and the store do.
 */
class SettlingTests {

	private static final LockRequest KEY = LockRequest.of("key");

	private static final LockRequest RUN = KEY.withUnit(RunUnit.of("1"));

	private final Engines engines = new Engines();

	private final FaultyProvider store = this.engines.store;

	private final LockEngine engine = this.engines.engine;

	@AfterEach
	void close() {
		this.engines.close();
	}

	@Test
	void failureThatCannotSayWhatItIsIsRecordedAndFreesTheKey() {
		RuntimeException mute = new RuntimeException() {
			@Override
			public String getMessage() {
				throw new IllegalStateException("not even that");
			}
		};
		assertThatThrownBy(() -> this.engine.singleRun(RUN, (lease) -> {
			throw mute;
		})).isSameAs(mute);
		assertThat(this.store.calls(Op.FAIL)).hasSize(1);
		assertThat(this.store.lock("key")).isEmpty();
	}

	@Test
	void holdWithoutAnEndIsNoFault() {
		Duration endless = Duration.ofSeconds(Long.MAX_VALUE);
		assertThat(this.engine.<String, RuntimeException>execute(KEY.withMaxHold(endless).withWaitFor(endless),
				(lease) -> "value"))
			.isEqualTo("value");
		assertThat(this.store.lock("key")).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(classes = { StackOverflowError.class, OutOfMemoryError.class, NoClassDefFoundError.class, Error.class,
			Exception.class })
	@DisplayName("C64 an Error ends the body like an exception: free, and not recorded as a success")
	void errorEndsTheBodyLikeAnException(Class<? extends Throwable> type) throws ReflectiveOperationException {
		Throwable thrown = type.getConstructor().newInstance();
		assertThatThrownBy(() -> this.engine.singleRun(RUN, (lease) -> {
			throw thrown;
		})).isSameAs(thrown);
		assertThatThrownBy(() -> this.engine.execute(LockRequest.of("other"), (lease) -> {
			throw thrown;
		})).isSameAs(thrown);
		assertThat(this.store.locks(10)).isEmpty();
		assertThat(this.store.runs("key", 10)).singleElement()
			.satisfies((run) -> assertThat(run.status()).isEqualTo(Status.FAILED))
			.satisfies((run) -> assertThat(run.error()).contains(type.getName()));
		assertThat(this.engines.events.outcomes()).containsExactly(Outcome.FAILED);
		assertThat(this.engine.leases()).isEmpty();
	}

	@Test
	void exceptionOfTheBodySurvivesAReleaseThatFails() {
		this.store.always(Op.RELEASE, FaultyProvider.DOWN);
		assertThatThrownBy(() -> this.engine.execute(KEY.withLease(Duration.ofSeconds(1)), (lease) -> {
			throw new IllegalStateException("body");
		})).isInstanceOf(IllegalStateException.class)
			.hasMessage("body")
			.satisfies((ex) -> assertThat(ex.getSuppressed()).singleElement().isInstanceOf(MutexException.class));
	}

	@Test
	void exceptionOfTheBodySurvivesAnErrorOfTheDriver() {
		this.store.always(Op.FAIL, (call, fail) -> {
			throw new NoClassDefFoundError("driver");
		});
		assertThatThrownBy(() -> this.engine.singleRun(RUN.withLease(Duration.ofSeconds(1)), (lease) -> {
			throw new IllegalStateException("body");
		})).isInstanceOf(IllegalStateException.class).hasMessage("body");
		assertThat(this.engine.leases()).isEmpty();
	}

	@Test
	@DisplayName("C62 S4 a store that is down at the end: said plainly, bounded, and the result returned")
	void storeThatIsDownAtTheEndIsSaidPlainly() {
		this.store.always(Op.COMPLETE, FaultyProvider.DOWN);
		long start = System.nanoTime();
		RunResult<String> result;
		try (Logged log = new Logged(Settler.class.getName())) {
			result = this.engine.singleRun(RUN.withLease(Duration.ofMillis(1500)), (lease) -> "value");
			assertThat(log.at(Level.ERROR)).singleElement()
				.asString()
				.contains("key=key", "token=", "done but not recorded", "unit '1' may be run again");
		}
		assertThat(result.outcome()).isEqualTo(Outcome.STORE_ERROR);
		assertThat(result.value()).isEqualTo("value");
		assertThat(result.isExecuted()).isTrue();
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(20));
		assertThat(this.engines.events.runs).singleElement()
			.satisfies((run) -> assertThat(run.outcome()).isEqualTo(Outcome.STORE_ERROR))
			.satisfies((run) -> assertThat(run.failure()).isInstanceOf(MutexException.class));
		int asked = this.store.calls(Op.COMPLETE).size();
		assertThat(asked).isBetween(2, 30);
		int renewals = this.store.calls(Op.RENEW).size();
		this.store.always(FaultyProvider.NONE);
		assertThat(this.engine.singleRun(KEY.withUnit(RunUnit.of("2")).withWaitFor(Engines.PATIENCE), (lease) -> "next")
			.outcome()).isEqualTo(Outcome.EXECUTED);
		assertThat(this.store.calls(Op.RENEW)).hasSize(renewals);
		assertThat(this.store.calls(Op.COMPLETE)).hasSize(asked + 1);
	}

	@Test
	@DisplayName("C62 a lock whose release fails returns what the body returned")
	void lockWhoseReleaseFailsReturnsWhatTheBodyReturned() {
		this.store.always(Op.RELEASE, FaultyProvider.DOWN);
		try (Logged log = new Logged(Settler.class.getName())) {
			String value = this.engine.execute(KEY.withLease(Duration.ofSeconds(1)), (lease) -> "value");
			assertThat(value).isEqualTo("value");
			assertThat(log.at(Level.ERROR)).singleElement().asString().contains("until the lease has expired");
		}
	}

	@Test
	void answerThatWasLostIsAskedForAgainAndCountsOnce() {
		this.store.next(Op.COMPLETE, FaultyProvider.ANSWER_LOST);
		this.store.next(Op.RELEASE, FaultyProvider.ANSWER_LOST);
		assertThat(this.engine.singleRun(RUN, (lease) -> "value").outcome()).isEqualTo(Outcome.EXECUTED);
		assertThat(this.engine.<String, RuntimeException>execute(KEY, (lease) -> "value")).isEqualTo("value");
		assertThat(this.store.calls(Op.COMPLETE)).hasSize(2).extracting(Call::nonce).containsOnly(nonces().get(0));
		assertThat(this.store.runs("key", 9)).hasSize(1);
		assertThat(this.engines.events.lost).isEmpty();
	}

	@Test
	void nothingIsSentOnceTheLeaseIsOver() {
		this.store.next(Op.COMPLETE, (call, complete) -> {
			this.engines.time.pass(Duration.ofSeconds(30));
			throw new MutexException("the process was paused for that long");
		});
		assertThat(this.engine.singleRun(RUN, (lease) -> "value").outcome()).isEqualTo(Outcome.STORE_ERROR);
		assertThat(this.store.calls(Op.COMPLETE)).hasSize(1);
		assertThat(this.store.runs("key", 9)).isEmpty();
	}

	@Test
	void storeWhoseKeysDoNotExpireIsAskedForABoundedTime() {
		try (Engines file = new Engines(new FaultyProvider(new MemoryLockProvider(), false));
				Logged log = new Logged(Settler.class.getName())) {
			file.store.always(Op.RELEASE, (call, release) -> {
				file.time.pass(Duration.ofSeconds(4));
				throw new MutexException("disk full");
			});
			assertThat(file.engine.<String, RuntimeException>execute(KEY, (lease) -> "value")).isEqualTo("value");
			assertThat(file.store.calls(Op.RELEASE)).hasSizeBetween(2, 4);
			assertThat(log.at(Level.ERROR)).singleElement().asString().contains("until this process has ended");
		}
	}

	@Test
	void durationOfTheRunIsThatOfTheBodyAlone() {
		this.store.next(Op.COMPLETE, (call, complete) -> {
			this.engines.time.pass(Duration.ofSeconds(10));
			return complete.get();
		});
		this.engine.singleRun(RUN, (lease) -> {
			this.engines.time.pass(Duration.ofSeconds(5));
			LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
			return null;
		});
		assertThat(this.engines.events.runs.get(0).took()).isBetween(Duration.ofSeconds(5), Duration.ofSeconds(9));
		assertThat(this.engines.events.ended.get(0)).isBetween(Duration.ofSeconds(5), Duration.ofSeconds(9));
	}

	@Test
	void failureIsStoredInOneLineOfBoundedLength() {
		assertThatThrownBy(() -> this.engine.singleRun(RUN, (lease) -> {
			throw new IllegalStateException("first\nsecond " + "x".repeat(2000));
		})).isInstanceOf(IllegalStateException.class);
		assertThat(this.store.runs("key", 1).get(0).error()).startsWith("java.lang.IllegalStateException: first second")
			.hasSize(500);
	}

	private List<String> nonces() {
		return this.store.calls(Op.ACQUIRE).stream().map(Call::nonce).toList();
	}

}
