package io.mutex.engine;

import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

import io.mutex.Fence;
import io.mutex.FencingPolicy;
import io.mutex.FencingPolicy.Mode;
import io.mutex.FencingToken;
import io.mutex.Lease;
import io.mutex.LeaseLostException;
import io.mutex.LockRequest;
import io.mutex.MutexException;
import io.mutex.StaleFencingTokenException;
import io.mutex.engine.FaultyProvider.Op;
import io.mutex.fence.MemoryGuard;
import io.mutex.run.Outcome;
import io.mutex.run.RunUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Leases that are registered at guards.
 */
class GuardTests {

	private static final LockRequest KEY = LockRequest.of("key");

	private final Engines engines = new Engines();

	private final FaultyProvider store = this.engines.store;

	private final LockEngine engine = this.engines.engine;

	private final MemoryGuard guard = new MemoryGuard();

	GuardTests() {
		this.engine.guardBy(List.of(this.guard));
	}

	@AfterEach
	void close() {
		this.engines.close();
	}

	@Test
	void eachGrantIsRegisteredBeforeItsWork() {
		this.engine.execute(KEY, (lease) -> {
			assertThat(this.guard.accepted("key")).isEqualTo(Fence.of("key", lease));
			assertThat(lease.fences()).containsExactly(Fence.of("key", lease));
			return null;
		});
		this.engine.singleRun(LockRequest.of("run").withUnit(RunUnit.of("1")), (lease) -> {
			assertThat(this.guard.accepted("run")).isEqualTo(Fence.of("run", lease));
			return null;
		});
	}

	@Test
	void anotherResourceIsRegisteredInsteadOfTheKey() {
		this.engine.execute(KEY.withFencing(new FencingPolicy("resource", Mode.STRICT)), (lease) -> {
			assertThat(this.guard.accepted("resource")).isEqualTo(Fence.of("resource", lease));
			return null;
		});
		assertThat(this.guard.accepted("key")).isNull();
	}

	@Test
	void theFirstWriteRegistersWhatIsFencedOnWrite() {
		this.engine.execute(KEY.withFencing(new FencingPolicy(null, Mode.ON_WRITE)), (lease) -> {
			assertThat(lease.fences()).singleElement().satisfies((fence) -> assertThat(fence.strict()).isFalse());
			return null;
		});
		assertThat(this.guard.accepted("key")).isNull();
	}

	@Test
	void nothingIsRegisteredOfWhatIsNotFenced() {
		this.engine.execute(KEY.withFencing(FencingPolicy.NONE), (lease) -> {
			assertThat(lease.fences()).isEmpty();
			return null;
		});
		assertThat(this.guard.accepted("key")).isNull();
	}

	@Test
	void callWithinACallRegistersTheSameGrantWhereItIsNotYet() {
		this.engine.execute(KEY.withFencing(FencingPolicy.NONE), (outer) -> {
			this.engine.execute(KEY.withFencing(new FencingPolicy(null, Mode.ON_WRITE)), (lease) -> null);
			assertThat(this.guard.accepted("key")).isNull();
			this.engine.execute(KEY, (lease) -> null);
			assertThat(this.guard.accepted("key")).isEqualTo(Fence.of("key", outer));
			this.engine.execute(KEY.withFencing(new FencingPolicy("other", Mode.STRICT)), (lease) -> null);
			assertThat(this.guard.accepted("other")).isEqualTo(Fence.of("other", outer));
			assertThat(outer.fences()).hasSize(2).allMatch(Fence::strict);
			return null;
		});
	}

	@Test
	@DisplayName("R4 a grant below what a guard has accepted is given back, and one above it is asked for")
	void grantBelowTheGuardIsGivenBackForOneAboveIt() {
		FencingToken ahead = new FencingToken(FencingToken.LIMIT / 2);
		this.guard.register(new Fence("key", "key", ahead, Engines.nonce(), true));
		Lease lease = this.engine.execute(KEY, (granted) -> {
			assertThat(granted.isValid()).isTrue();
			return granted;
		});
		assertThat(lease.token()).isGreaterThan(ahead);
		assertThat(this.guard.accepted("key")).isEqualTo(Fence.of("key", lease));
		assertThat(this.store.calls(Op.ACQUIRE)).hasSize(2);
		assertThat(this.store.calls(Op.RELEASE)).hasSize(2);
		assertThat(this.engines.events.refused).singleElement()
			.satisfies((refusal) -> assertThat(refusal.getAccepted()).isEqualTo(ahead));
	}

	@Test
	void unitOfAGrantThatWasGivenBackRunsAsItsFirstAttempt() {
		LockRequest run = KEY.withUnit(RunUnit.of("1"));
		this.guard.register(new Fence("key", "key", new FencingToken(FencingToken.LIMIT / 2), Engines.nonce(), true));
		assertThat(this.engine.singleRun(run, (lease) -> "value").outcome()).isEqualTo(Outcome.EXECUTED);
		assertThat(this.store.runs("key", 9)).singleElement()
			.satisfies((record) -> assertThat(record.attempt()).isEqualTo(1));
	}

	@Test
	void guardThatRefusesEveryGrantEndsTheCallBeforeItsWork() {
		AtomicBoolean ran = new AtomicBoolean();
		this.engine.guardBy(List.of(new MemoryGuard() {

			@Override
			public void register(Fence fence) {
				throw new StaleFencingTokenException(fence.resource(), fence.token(), fence.token());
			}

		}));
		assertThatExceptionOfType(StaleFencingTokenException.class)
			.isThrownBy(() -> this.engine.execute(KEY, (lease) -> ran.getAndSet(true)));
		assertThat(ran).isFalse();
		assertThat(this.store.calls(Op.ACQUIRE)).hasSize(3);
		assertThat(this.store.lock("key")).isEmpty();
		assertThat(this.engine.leases()).isEmpty();
	}

	@Test
	void guardThatDoesNotAnswerEndsTheCallBeforeItsWork() {
		AtomicBoolean ran = new AtomicBoolean();
		this.engine.guardBy(List.of(this.guard, new MemoryGuard() {

			@Override
			public void register(Fence fence) {
				throw new MutexException(fence.key(), "no answer");
			}

		}));
		assertThatExceptionOfType(MutexException.class)
			.isThrownBy(() -> this.engine.singleRun(KEY.withUnit(RunUnit.of("1")), (lease) -> ran.getAndSet(true)))
			.withMessage("no answer");
		assertThat(ran).isFalse();
		assertThat(this.engines.events.outcomes()).containsExactly(Outcome.STORE_ERROR);
		assertThat(this.store.lock("key")).isEmpty();
		assertThat(this.store.runs("key", 9)).isEmpty();
	}

	@Test
	void everyGuardIsAskedSoThatTheHighestTokenIsKnownAtOnce() {
		MemoryGuard higher = new MemoryGuard();
		this.engine.guardBy(List.of(this.guard, higher));
		long ahead = FencingToken.LIMIT / 2;
		this.guard.register(new Fence("key", "key", new FencingToken(ahead), Engines.nonce(), true));
		higher.register(new Fence("key", "key", new FencingToken(ahead + 7), Engines.nonce(), true));
		FencingToken granted = this.engine.execute(KEY, Lease::token);
		assertThat(granted.value()).isEqualTo(ahead + 8);
	}

	@Test
	void formerHolderIsRefusedAfterAForcedRelease() {
		assertThatExceptionOfType(LeaseLostException.class).isThrownBy(() -> this.engine.execute(KEY, (lease) -> {
			FencingToken raised = this.store.forceRelease("key").token();
			assertThat(raised).isNotNull().isGreaterThan(lease.token());
			assertThat(this.engine.revoke("key", raised)).containsExactly("memory guard");
			assertThatExceptionOfType(StaleFencingTokenException.class)
				.isThrownBy(() -> this.guard.register(Fence.of("key", lease)));
			return null;
		}));
		Lease next = this.engine.execute(KEY, (lease) -> lease);
		assertThat(this.guard.accepted("key")).isEqualTo(Fence.of("key", next));
	}

}
