package io.mutex.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import io.mutex.AcquireRequest;
import io.mutex.Lease;
import io.mutex.LockProvider.Grant;
import io.mutex.LockRequest;
import io.mutex.memory.MemoryLockProvider;
import io.mutex.run.Attempts;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Who waits for whom.
 */
class WaitCyclesTests {

	private final List<HeldLease> leases = new ArrayList<>();

	private final List<Wait> waits = new ArrayList<>();

	private final HeldLease a = exclusive("a");

	private final HeldLease b = exclusive("b");

	private final HeldLease c = exclusive("c");

	private HeldLease exclusive(String key) {
		return lease(key, 1);
	}

	private HeldLease shared(String key) {
		return lease(key, AcquireRequest.SHARED);
	}

	private HeldLease lease(String key, int permits) {
		Duration ttl = Duration.ofMinutes(5);
		Validity validity = Validity.sentNow(TimeSource.SYSTEM, ttl);
		Turn turn = Turn.first(new Grant(key, Engines.nonce(), 1, ttl, permits), 1, validity);
		HeldLease lease = new HeldLease(turn, key, null, new LeaseTerm(TimeSource.SYSTEM, validity, true, null), false,
				Attempts.BY_HAND, 0, new Guards(new EngineListeners(List.of()), new MemoryLockProvider()));
		this.leases.add(lease);
		return lease;
	}

	private Wait wait(LockRequest request, Lease... held) {
		Wait wait = new Wait(request, Arrays.asList(held), 0);
		this.waits.add(wait);
		return wait;
	}

	private List<List<Wait>> cycles() {
		return WaitCycles.find(this.waits, this.leases);
	}

	@Test
	void chainThatEndsAtAHolderWhoDoesNotWaitIsNoCycle() {
		wait(LockRequest.of("b"), this.a);
		wait(LockRequest.of("c"), this.b);
		wait(LockRequest.of("a"));
		wait(LockRequest.of("elsewhere"), this.c);
		assertThat(cycles()).isEmpty();
	}

	@Test
	void cycleOfThreeIsFoundOnceWithoutThoseThatOnlyWaitForIt() {
		wait(LockRequest.of("a"));
		wait(LockRequest.of("b"), exclusive("d"));
		Wait one = wait(LockRequest.of("b"), this.a);
		Wait two = wait(LockRequest.of("c"), this.b);
		Wait three = wait(LockRequest.of("a"), this.c);
		assertThat(cycles()).singleElement()
			.satisfies((cycle) -> assertThat(cycle).containsExactlyInAnyOrder(one, two, three));
	}

	@Test
	void twoCyclesAreFound() {
		HeldLease d = exclusive("d");
		wait(LockRequest.of("b"), this.a);
		wait(LockRequest.of("a"), this.b);
		wait(LockRequest.of("c"), d);
		wait(LockRequest.of("d"), this.c);
		assertThat(cycles()).hasSize(2).allSatisfy((cycle) -> assertThat(cycle).hasSize(2));
	}

	@Test
	void leaseThatIsLostHoldsNothingUp() {
		wait(LockRequest.of("b"), this.a);
		wait(LockRequest.of("a"), this.b);
		this.b.lose("lost", false);
		assertThat(cycles()).isEmpty();
	}

	@Test
	void threadThatWaitsForItselfIsACycle() {
		HeldLease reader = shared("e");
		wait(LockRequest.of("e"), reader);
		assertThat(cycles()).singleElement().satisfies((cycle) -> assertThat(cycle).hasSize(1));
	}

	@Test
	void writerWaitsForEveryReader() {
		HeldLease reader = shared("e");
		shared("e");
		wait(LockRequest.of("a"), reader);
		wait(LockRequest.of("e"), this.a);
		assertThat(cycles()).hasSize(1);
	}

	@Test
	void permitIsWaitedForOnlyIfNoHolderCanGoOn() {
		HeldLease first = shared("e");
		HeldLease second = shared("e");
		wait(LockRequest.of("a"), first);
		wait(LockRequest.of("e").withPermits(2), this.a);
		assertThat(cycles()).isEmpty();
		wait(LockRequest.of("a"), second);
		assertThat(cycles()).isNotEmpty();
	}

	@Test
	void readerWaitsForAWriter() {
		wait(LockRequest.of("b").shared(), this.a);
		wait(LockRequest.of("a"), this.b);
		assertThat(cycles()).hasSize(1);
	}

}
