package io.mutex.status;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import io.mutex.AcquireRequest;
import io.mutex.Acquisition;
import io.mutex.LockProvider;
import io.mutex.LockProvider.Grant;
import io.mutex.interceptor.DeclaredRun;
import io.mutex.memory.MemoryLockProvider;
import io.mutex.run.Outcome;
import io.mutex.run.Owner;
import io.mutex.run.RunUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What {@link OverdueRuns} reports, and how often it asks the store.
 */
class OverdueRunsTests {

	private static final Duration DAY = Duration.ofDays(1);

	private static final Duration GRACE = Duration.ofHours(1);

	private final MovableClock clock = new MovableClock(Jobs.THREE.minusSeconds(60));

	private final LockProvider store = new MemoryLockProvider(this.clock);

	private final AtomicInteger asked = new AtomicInteger();

	private final LastSuccesses successes = new LastSuccesses(this.clock);

	private final DeclaredRun daily = Jobs.daily();

	private final OverdueRuns overdue = new OverdueRuns(() -> List.of(this.daily), () -> {
		this.asked.incrementAndGet();
		return this.store;
	}, this.successes, this.clock);

	private Grant grant(String unit) {
		String nonce = String.format("%032d", this.clock.millis());
		Acquisition answer = this.store.acquire(new AcquireRequest("daily", "daily", nonce,
				new Owner("pod-7", "host", 1, "main"), Duration.ofDays(30), 0, RunUnit.of(unit), 0, 1));
		return new Grant("daily", nonce, ((Acquisition.Granted) answer).token(), Duration.ofDays(30));
	}

	private void succeedElsewhere(Instant tick) {
		this.store.complete(grant(tick.toString()), tick.toString());
	}

	@Test
	void jobThatNeverRanIsOverdueAfterItsFirstTickAndTheGrace() {
		this.clock.set(Jobs.THREE.plus(GRACE));
		assertThat(this.overdue.find()).isEmpty();
		assertThat(this.asked).hasValue(0);
		this.clock.advance(Duration.ofSeconds(1));
		assertThat(this.overdue.find()).singleElement().satisfies((job) -> {
			assertThat(job.due()).isEqualTo(Jobs.THREE);
			assertThat(job.by()).isEqualTo(GRACE.plusSeconds(1));
			assertThat(job.run()).isEqualTo(this.daily);
		});
	}

	@Test
	void jobThatAnotherInstanceHasRunIsNotReported() {
		succeedElsewhere(Jobs.THREE);
		this.clock.set(Jobs.THREE.plus(GRACE).plusSeconds(1));
		assertThat(this.overdue.find()).isEmpty();
		assertThat(this.asked).hasValue(1);
		assertThat(this.overdue.find()).isEmpty();
		assertThat(this.asked).hasValue(1);
		assertThat(this.overdue.known(this.daily)).isEqualTo(Duration.ZERO);
	}

	@Test
	void overdueSinceTheFirstUnitThatWasMissed() {
		this.successes.run(Jobs.run("daily", "daily", Outcome.EXECUTED, null));
		this.clock.set(Jobs.THREE.plus(DAY).plus(DAY));
		assertThat(this.overdue.find()).singleElement().satisfies((job) -> assertThat(job.due()).isEqualTo(Jobs.THREE));
	}

	@Test
	void storeIsAskedAgainOnlyAfterSomeTime() {
		this.clock.set(Jobs.THREE.plus(GRACE).plusSeconds(1));
		this.overdue.find();
		this.overdue.find();
		assertThat(this.asked).hasValue(1);
		succeedElsewhere(Jobs.THREE);
		this.clock.advance(Duration.ofHours(1));
		assertThat(this.overdue.find()).isEmpty();
		assertThat(this.asked).hasValue(2);
	}

	@Test
	void unitThatRunsIsNotOverdueButOneThatIsHeldUpIs() {
		grant(Jobs.THREE.toString());
		this.clock.set(Jobs.THREE.plus(Duration.ofHours(5)));
		assertThat(this.overdue.find()).isEmpty();
		// the same run still holds the key when the next unit should have ended
		this.clock.set(Jobs.THREE.plus(DAY).plus(GRACE).plusSeconds(1));
		assertThat(this.overdue.find()).hasSize(1);
	}

	@Test
	void gaugeNeverAsksOnTheThreadThatReadsIt() {
		assertThat(this.overdue.known(this.daily)).isNull();
		this.clock.set(Jobs.THREE.plus(GRACE).plusSeconds(1));
		Thread reader = Thread.currentThread();
		OverdueRuns watched = new OverdueRuns(() -> List.of(this.daily), () -> {
			assertThat(Thread.currentThread()).isNotSameAs(reader);
			return this.store;
		}, this.successes, this.clock);
		this.successes.learn("daily", new Success("daily", Jobs.THREE.minus(DAY).toString(), Jobs.THREE.minus(DAY),
				Jobs.THREE.minus(DAY), null));
		Awaitility.await().untilAsserted(() -> assertThat(watched.known(this.daily)).isEqualTo(GRACE.plusSeconds(1)));
	}

}
