package io.mutex.engine;

import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import io.mutex.Acquisition;
import io.mutex.LockNotAcquiredException;
import io.mutex.LockNotAcquiredException.Reason;
import io.mutex.LockRequest;
import io.mutex.engine.FaultyProvider.Fault;
import io.mutex.engine.FaultyProvider.Op;
import io.mutex.run.Outcome;
import io.mutex.run.RunUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A store that has lost data and grants nothing for a while.
 */
class HeldBackTests {

	private static final LockRequest KEY = LockRequest.of("key");

	private static final Fault HELD_BACK = (call, store) -> new Acquisition.HeldBack(Duration.ofMillis(200));

	private static final Fault HELD_BACK_FOR_LONG = (call, store) -> new Acquisition.HeldBack(Duration.ofHours(1));

	private final Engines engines = new Engines();

	private final FaultyProvider store = this.engines.store;

	private final LockEngine engine = this.engines.engine;

	@AfterEach
	void close() {
		this.engines.close();
	}

	@Test
	void singleRunThatDoesNotWaitForAKeyWaitsForTheStore() {
		this.store.next(Op.ACQUIRE, HELD_BACK, HELD_BACK, HELD_BACK);
		assertThat(this.engine.singleRun(KEY.withUnit(RunUnit.of("u")), (lease) -> "ran").outcome())
			.isEqualTo(Outcome.EXECUTED);
		assertThat(this.store.calls(Op.ACQUIRE)).hasSize(4);
	}

	@Test
	void singleRunThatHasWaitedDoesNotWaitForAHolderBesides() {
		this.store.next(Op.ACQUIRE, HELD_BACK, HELD_BACK, (call, store) -> {
			this.store.always(Op.ACQUIRE, (again, other) -> new Acquisition.Held(null, null, Duration.ofMinutes(1)));
			return new Acquisition.Held(null, null, Duration.ofMinutes(1));
		});
		assertThat(this.engine.singleRun(KEY.withUnit(RunUnit.of("u")), (lease) -> "ran").outcome())
			.isEqualTo(Outcome.SKIPPED_HELD);
		assertThat(this.store.calls(Op.ACQUIRE)).hasSize(3);
	}

	@Test
	void otherWorkThatDoesNotWaitIsToldWhy() {
		this.store.next(Op.ACQUIRE, HELD_BACK_FOR_LONG);
		assertThatExceptionOfType(LockNotAcquiredException.class)
			.isThrownBy(() -> this.engine.execute(KEY, (lease) -> "ran"))
			.withMessageContaining("has lost data")
			.withMessageContaining("PT1H")
			.satisfies((ex) -> assertThat(ex.getReason()).isEqualTo(Reason.HELD));
		assertThat(this.store.calls(Op.ACQUIRE)).hasSize(1);
		assertThat(this.engine.<String, RuntimeException>execute(KEY, (lease) -> "ran")).isEqualTo("ran");
	}

	@Test
	void otherWorkWaitsWithinItsTime() {
		this.store.next(Op.ACQUIRE, HELD_BACK, HELD_BACK);
		assertThat(this.engine.<String, RuntimeException>execute(KEY.withWaitFor(Engines.PATIENCE), (lease) -> "ran"))
			.isEqualTo("ran");
		this.store.always(Op.ACQUIRE, HELD_BACK_FOR_LONG);
		assertThatExceptionOfType(LockNotAcquiredException.class)
			.isThrownBy(() -> this.engine.execute(KEY.withWaitFor(Duration.ofMillis(100)), (lease) -> "ran"))
			.satisfies((ex) -> assertThat(ex.getReason()).isEqualTo(Reason.TIMED_OUT));
	}

	@Test
	void shutdownEndsTheWait() throws Exception {
		this.store.always(Op.ACQUIRE, HELD_BACK_FOR_LONG);
		Future<?> run = this.engines.threads
			.submit(() -> this.engine.singleRun(KEY.withUnit(RunUnit.of("u")), (lease) -> "ran"));
		Awaitility.await().atMost(Engines.PATIENCE).until(() -> this.store.calls(Op.ACQUIRE).size() > 2);
		this.engine.drain(Duration.ZERO);
		assertThatExceptionOfType(ExecutionException.class)
			.isThrownBy(() -> run.get(Engines.PATIENCE.toSeconds(), TimeUnit.SECONDS))
			.withCauseInstanceOf(LockNotAcquiredException.class)
			.satisfies((ex) -> assertThat(((LockNotAcquiredException) ex.getCause()).getReason())
				.isEqualTo(Reason.SHUTTING_DOWN));
	}

}
