package io.mutex.engine;

import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;

import io.mutex.Lease;
import io.mutex.Leases;
import io.mutex.LockNotAcquiredException;
import io.mutex.LockRequest;
import io.mutex.MutexException;
import io.mutex.RunResult;
import io.mutex.engine.FaultyProvider.Call;
import io.mutex.engine.FaultyProvider.Op;
import io.mutex.run.Outcome;
import io.mutex.run.RunUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * A call within a call.
 */
@DisplayName("C65 S10 a call within a call")
class ReentranceTests {

	private static final LockRequest KEY = LockRequest.of("key");

	private final Engines engines = new Engines();

	private final FaultyProvider store = this.engines.store;

	private final LockEngine engine = this.engines.engine;

	@AfterEach
	void close() {
		this.engines.close();
	}

	@Test
	void sameKeyKeepsTheLeaseAndTheInnerEndReleasesNothing() {
		this.engine.execute(KEY, (outer) -> {
			Lease inner = this.engine.execute(KEY.withWaitFor(Duration.ofMinutes(5)), (lease) -> lease);
			assertThat(inner).isSameAs(outer);
			assertThat(outer.isValid()).isTrue();
			assertThat(this.store.lock("key")).isPresent();
			assertThat(Leases.current()).containsSame(outer);
			return null;
		});
		assertThat(this.store.calls(Op.ACQUIRE)).hasSize(1);
		assertThat(this.store.calls(Op.RELEASE)).hasSize(1);
		assertThat(this.store.lock("key")).isEmpty();
		assertThat(Leases.current()).isEmpty();
	}

	@Test
	void singleRunAndLockOfOneKeyShareALease() {
		RunResult<Lease> result = this.engine.singleRun(KEY.withUnit(RunUnit.of("1")),
				(outer) -> this.engine.<Lease, RuntimeException>execute(KEY, (lease) -> {
					assertThat(lease).isSameAs(outer);
					return lease;
				}));
		assertThat(result.outcome()).isEqualTo(Outcome.EXECUTED);
		assertThat(this.store.calls(Op.ACQUIRE)).hasSize(1);
		assertThat(this.store.calls(Op.COMPLETE)).hasSize(1);
		assertThat(this.store.calls(Op.RELEASE)).isEmpty();
	}

	@Test
	void sameUnitIsEnteredAgainAndAnotherIsRefused() {
		LockRequest first = KEY.withUnit(RunUnit.of("1"));
		this.engine.singleRun(first, (outer) -> {
			assertThat(this.engine.singleRun(first, (lease) -> "inner").value()).isEqualTo("inner");
			assertThatExceptionOfType(MutexException.class)
				.isThrownBy(() -> this.engine.singleRun(KEY.withUnit(RunUnit.of("2")), (lease) -> "never"))
				.withMessageContaining("unit '1'")
				.withMessageContaining("unit '2'");
			return null;
		});
		this.engine.execute(KEY, (outer) -> {
			assertThatExceptionOfType(MutexException.class)
				.isThrownBy(() -> this.engine.singleRun(first, (lease) -> "never"))
				.withMessageContaining("without a unit");
			return null;
		});
	}

	@Test
	void differentKeysNestAndEndFromTheInside() {
		this.engine.execute(KEY, (outer) -> {
			this.engine.execute(LockRequest.of("inner"), (inner) -> {
				assertThat(Leases.current()).containsSame(inner);
				assertThat(Leases.assertHeld("key")).isSameAs(outer);
				assertThat(this.engine.leases()).containsExactlyInAnyOrder(outer, inner);
				return null;
			});
			assertThat(this.store.lock("inner")).isEmpty();
			assertThat(this.store.lock("key")).isPresent();
			return null;
		});
		assertThat(this.store.calls(Op.RELEASE)).extracting(Call::key).containsExactly("inner", "key");
	}

	@Test
	void anotherThreadDoesNotEnterAgain() {
		this.engine.execute(KEY, (outer) -> {
			Future<String> second = this.engines.threads.submit(() -> this.engine.execute(KEY, Lease::key));
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(second::get)
				.withCauseInstanceOf(LockNotAcquiredException.class);
			return null;
		});
	}

	@Test
	void keyOfAnotherStoreIsAnotherKey() {
		FaultyProvider second = new FaultyProvider();
		try (LockEngine other = Engines.engine(second, TimeSource.SYSTEM)) {
			this.engine.execute(KEY, (outer) -> other.execute(KEY, (inner) -> {
				assertThat(inner).isNotSameAs(outer);
				assertThat(second.lock("key")).isPresent();
				return null;
			}));
		}
		assertThat(second.calls(Op.RELEASE)).hasSize(1);
	}

	@Test
	void conditionOfASingleRunMayCallWhatItsKeyProtects() {
		LockRequest request = KEY.withUnit(RunUnit.of("1"))
			.withUnless(() -> this.engine.<Boolean, RuntimeException>execute(KEY, (lease) -> false));
		assertThat(this.engine.singleRun(request, (lease) -> "value").value()).isEqualTo("value");
		assertThat(this.store.calls(Op.ACQUIRE)).hasSize(1);
	}

	@Test
	void lockWithAUnitIsRefused() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.engine.execute(KEY.withUnit(RunUnit.of("1")), (lease) -> null))
			.withMessageContaining("singleRun");
		assertThat(this.store.calls).isEmpty();
	}

}
