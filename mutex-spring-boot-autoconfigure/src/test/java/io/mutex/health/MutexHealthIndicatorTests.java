package io.mutex.health;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;

import javax.sql.DataSource;

import io.mutex.FencingToken;
import io.mutex.Lease;
import io.mutex.LockProvider;
import io.mutex.annotation.SingleRun;
import io.mutex.autoconfigure.MutexAutoConfiguration;
import io.mutex.interceptor.DeclaredRun;
import io.mutex.jdbc.JdbcLockProvider;
import io.mutex.jdbc.JdbcSchema;
import io.mutex.jdbc.JdbcSettings;
import io.mutex.memory.MemoryLockProvider;
import io.mutex.run.Period;
import io.mutex.run.Timetable;
import io.mutex.status.ClockOffset;
import io.mutex.status.LastSuccesses;
import io.mutex.status.LongHolds;
import io.mutex.status.OverdueRuns;
import io.mutex.testing.TestServers;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What health says beside the store.
 */
class MutexHealthIndicatorTests {

	private static final Instant START = Instant.parse("2026-11-30T02:00:00Z");

	private final DeclaredRun hourly = new DeclaredRun("bean", "Jobs.hourly()", "hourly", true, "policy",
			new Timetable(Period.rolling(Duration.ofHours(1)), ZoneOffset.UTC, null, Duration.ofHours(1), true), false);

	private LockProvider store = new MemoryLockProvider();

	private Instant now = START;

	private final Clock clock = new Clock() {

		@Override
		public ZoneId getZone() {
			return ZoneOffset.UTC;
		}

		@Override
		public Clock withZone(ZoneId zone) {
			return this;
		}

		@Override
		public Instant instant() {
			return MutexHealthIndicatorTests.this.now;
		}

	};

	private final ClockOffset offset = new ClockOffset(this.clock);

	private @Nullable Health health(boolean overdueDown, Duration later, List<Lease> leases) {
		this.now = START;
		OverdueRuns overdue = new OverdueRuns(() -> List.of(this.hourly), () -> this.store,
				new LastSuccesses(this.clock), this.clock);
		this.now = START.plus(later);
		LongHolds holds = new LongHolds(() -> leases, () -> List.of(this.hourly), this.clock);
		return new MutexHealthIndicator(() -> true, () -> this.store, () -> "shop", overdue, holds, this.offset,
				overdueDown)
			.health(true);
	}

	@Test
	void saysNothingOfJobsThatAreFine() {
		assertThat(health(true, Duration.ofMinutes(80), List.of())).isNotNull().satisfies((health) -> {
			assertThat(health.getStatus()).isEqualTo(Status.UP);
			assertThat(health.getDetails()).containsKeys("provider", "namespace", "roundTripMillis")
				.doesNotContainKeys("findings", "overdue", "heldForLong", "clockOffsetMillis");
		});
	}

	@Test
	void showsWhatWeakensTheStore() {
		DataSource dataSource = new DriverManagerDataSource(TestServers.mariadb().newDatabase());
		JdbcSchema.create(dataSource, JdbcSettings.defaults());
		this.store = new JdbcLockProvider(dataSource, "shop", JdbcSettings.defaults());
		try (LockProvider lazy = this.store) {
			assertThat(lazy.name()).isEqualTo("jdbc");
			assertThat(health(true, Duration.ZERO, List.of())).isNotNull().satisfies((health) -> {
				assertThat(health.getStatus()).isEqualTo(Status.UP);
				assertThat(health.getDetails()).extractingByKey("findings")
					.asString()
					.contains("innodb_flush_log_at_trx_commit=2");
			});
		}
	}

	@Test
	void showsAnOverdueJobAndStaysUp() {
		assertThat(health(false, Duration.ofMinutes(91), List.of())).isNotNull().satisfies((health) -> {
			assertThat(health.getStatus()).isEqualTo(Status.UP);
			assertThat(health.getDetails()).extractingByKey("overdue")
				.asString()
				.contains("hourly=due 2026-11-30T02:59:59Z, overdue by PT31M1S");
		});
	}

	@Test
	void isDownByAnOverdueJobOnlyWhereThatIsAskedFor() {
		assertThat(health(true, Duration.ofMinutes(91), List.of())).isNotNull()
			.satisfies((health) -> assertThat(health.getStatus()).isEqualTo(Status.DOWN));
	}

	@Test
	void showsWhatIsHeldForTooLongAndHowFarTheClockIsAhead() {
		Lease lease = new Held("hourly", Duration.ofMinutes(61));
		this.offset.granted(lease);
		assertThat(health(false, Duration.ZERO, List.of(lease))).isNotNull().satisfies((health) -> {
			assertThat(health.getDetails()).extractingByKey("heldForLong")
				.asString()
				.contains("hourly=held for PT1H1M");
			assertThat(health.getDetails()).containsKey("clockOffsetMillis");
		});
	}

	@Test
	void readsThePropertyThatTurnsItDown() {
		ApplicationContextRunner runner = new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(MutexAutoConfiguration.class))
			.withPropertyValues("spring.application.name=test", "mutex.provider=memory")
			.withBean(Often.class);
		runner.run((context) -> assertThat(context.getBean(HealthIndicator.class).health(true)).isNotNull()
			.satisfies((health) -> assertThat(health.getStatus()).isEqualTo(Status.UP)));
		runner.withPropertyValues("management.health.mutex.overdue-down=true")
			.run((context) -> assertThat(context.getBean(MutexHealthIndicator.class)).extracting("overdueDown")
				.isEqualTo(true));
	}

	/** A job whose schedule nothing fires. */
	static class Often {

		@Scheduled(cron = "0 0 3 * * *")
		@SingleRun(key = "often")
		void often() {
		}

	}

	/** A lease that is held. */
	private record Held(String name, Duration heldFor) implements Lease {

		@Override
		public String key() {
			return this.name;
		}

		@Override
		public FencingToken token() {
			return new FencingToken(7);
		}

		@Override
		public String nonce() {
			return "nonce";
		}

		@Override
		public String unit() {
			return "~";
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
