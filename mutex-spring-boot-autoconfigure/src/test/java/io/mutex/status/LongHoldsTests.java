package io.mutex.status;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

import io.mutex.FencingToken;
import io.mutex.Lease;
import io.mutex.interceptor.DeclaredRun;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Which holds {@link LongHolds} calls long, and what {@link ClockOffset} reads from a
 * token.
 */
@ExtendWith(OutputCaptureExtension.class)
class LongHoldsTests {

	private static final Duration DAY = Duration.ofDays(1);

	private static final Duration HOUR = Duration.ofHours(1);

	private final MovableClock clock = new MovableClock(Jobs.THREE.plus(DAY.multipliedBy(3)));

	private final List<Lease> leases = new ArrayList<>();

	private final List<DeclaredRun> runs = List.of(Jobs.daily());

	private final LongHolds holds = new LongHolds(() -> this.leases, () -> this.runs, this.clock);

	@Test
	void warnsAndCountsOnceOfEachHoldLongerThanTheInterval(CapturedOutput output) {
		this.leases.add(new Held("daily", "unit", DAY));
		this.holds.renewed(1, 0);
		assertThat(this.holds.count("daily")).isZero();
		assertThat(this.holds.current()).isEmpty();
		this.leases.set(0, new Held("daily", "unit", DAY.plusSeconds(1)));
		this.holds.renewed(1, 0);
		this.holds.renewed(1, 0);
		assertThat(this.holds.count("daily")).isEqualTo(1);
		assertThat(this.holds.current()).hasSize(1);
		assertThat(output.getOut()).containsOnlyOnce("Held for long: key=daily-key token=7 unit=unit");
		this.holds.ended(this.leases.remove(0), DAY.plusSeconds(5));
		assertThat(this.holds.count("daily")).isEqualTo(1);
	}

	@Test
	void noticesAtTheEndWhatNoRenewalHasNoticed() {
		this.holds.ended(new Held("daily", "unit", DAY), DAY.plusSeconds(1));
		assertThat(this.holds.count("daily")).isEqualTo(1);
		this.holds.ended(new Held("daily", "unit", HOUR), HOUR);
		assertThat(this.holds.count("daily")).isEqualTo(1);
	}

	@Test
	void allowsAnHourToSingleRunsWithoutASchedule() {
		this.holds.ended(new Held("by-template", "unit", HOUR), HOUR);
		assertThat(this.holds.count("by-template")).isZero();
		this.holds.ended(new Held("by-template", "unit", HOUR), HOUR.plusSeconds(1));
		assertThat(this.holds.count("by-template")).isEqualTo(1);
	}

	@Test
	void saysNothingOfOtherLocks() {
		this.holds.ended(new Held("fenced", null, DAY), DAY);
		assertThat(this.holds.count("fenced")).isZero();
	}

	@Test
	void readsTheOffsetOfTheClocksFromAToken() {
		ClockOffset offset = new ClockOffset(this.clock);
		assertThat(offset.get()).isNull();
		this.clock.set(Instant.EPOCH.plusSeconds(30));
		offset.granted(new Held("any", null, Duration.ZERO));
		assertThat(offset.get()).isEqualTo(Duration.ofSeconds(30).minusNanos(7_000));
	}

	/** A lease with token 7. */
	private record Held(String name, @Nullable String unit, Duration heldFor) implements Lease {

		@Override
		public String key() {
			return this.name + "-key";
		}

		@Override
		public FencingToken token() {
			return new FencingToken(7);
		}

		@Override
		public String nonce() {
			return "nonce of " + this.name;
		}

		@Override
		public boolean isValid() {
			return true;
		}

		@Override
		public Duration remaining() {
			return Duration.ZERO;
		}

	}

}
