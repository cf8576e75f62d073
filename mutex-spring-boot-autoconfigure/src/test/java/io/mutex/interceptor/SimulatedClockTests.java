package io.mutex.interceptor;

import java.lang.reflect.Method;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

import io.mutex.LockProvider;
import io.mutex.MutexException;
import io.mutex.MutexListener;
import io.mutex.annotation.SingleRun;
import io.mutex.memory.MemoryLockProvider;
import io.mutex.proof.Store;
import io.mutex.run.Outcome;
import io.mutex.run.RunRecord.Status;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.support.ScheduledMethodRunnable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Instances with clocks of their own, and a store that knows the time.
 */
class SimulatedClockTests {

	private final AtomicReference<Instant> time = new AtomicReference<>(Instant.EPOCH);

	private final MemoryLockProvider store = new MemoryLockProvider(new MovingClock(this.time));

	private final List<Instance> instances = new ArrayList<>();

	private final Instance one = new Instance(Duration.ZERO);

	@AfterEach
	void close() {
		this.instances.forEach((instance) -> instance.context.close());
	}

	@Test
	@DisplayName("C37 a run of 5 ms is not repeated 1 s, 5 minutes and 23 hours later, but on the next day")
	void shortJobIsNotRepeatedOnItsDay() {
		Instance other = new Instance(Duration.ZERO);
		set("2026-11-29T02:00:00Z");
		assertThat(this.one.fire("fast")).isEqualTo(Outcome.EXECUTED);
		set("2026-11-29T02:00:01Z");
		assertThat(other.fire("fast")).isEqualTo(Outcome.SKIPPED_DONE);
		set("2026-11-29T02:05:00Z");
		assertThat(other.fire("fast")).isEqualTo(Outcome.SKIPPED_DONE);
		set("2026-11-30T01:00:00Z");
		assertThat(other.callByHand("fast")).isEqualTo(Outcome.SKIPPED_DONE);
		set("2026-11-30T02:00:00Z");
		assertThat(other.fire("fast")).isEqualTo(Outcome.EXECUTED);
	}

	@Test
	@DisplayName("C40 a day whose local time of the cron does not exist is open until a call by hand")
	void dayWithoutTheTimeOfTheCron() {
		set("2026-03-28T01:30:00Z");
		assertThat(this.one.fire("night")).isEqualTo(Outcome.EXECUTED);
		set("2026-03-29T15:00:00Z");
		assertThat(this.store.runs("night", 9)).extracting((run) -> run.unit()).containsExactly("2026-03-28");
		assertThat(this.one.callByHand("night")).isEqualTo(Outcome.EXECUTED);
		assertThat(this.store.runs("night", 9)).extracting((run) -> run.unit())
			.containsExactly("2026-03-29", "2026-03-28");
		assertThat(this.one.callByHand("night")).isEqualTo(Outcome.SKIPPED_DONE);
		set("2026-03-30T00:30:00Z");
		assertThat(this.one.fire("night")).isEqualTo(Outcome.EXECUTED);
	}

	@Test
	@DisplayName("C41 of the two firings in a repeated hour a daily job runs once and an hourly one twice")
	void repeatedHour() {
		set("2026-10-25T00:30:00Z");
		assertThat(this.one.fire("night")).isEqualTo(Outcome.EXECUTED);
		assertThat(this.one.fire("nightHour")).isEqualTo(Outcome.EXECUTED);
		set("2026-10-25T01:30:00Z");
		assertThat(this.one.fire("night")).isEqualTo(Outcome.SKIPPED_DONE);
		assertThat(this.one.fire("nightHour")).isEqualTo(Outcome.EXECUTED);
		assertThat(this.store.runs("night-hour", 9)).extracting((run) -> run.unit())
			.containsExactly("2026-10-25T02+01:00", "2026-10-25T02+02:00");
	}

	@Test
	@DisplayName("C48 a clock that is set back after a success runs neither day again")
	void clockSetBackAfterASuccess() {
		Instance other = new Instance(Duration.ZERO);
		set("2026-11-29T00:00:00Z");
		assertThat(this.one.fire("midnight")).isEqualTo(Outcome.EXECUTED);
		set("2026-11-30T00:00:05Z");
		assertThat(this.one.fire("midnight")).isEqualTo(Outcome.EXECUTED);
		for (Instance instance : List.of(this.one, other)) {
			set("2026-11-29T23:59:50Z");
			assertThat(instance.callByHand("midnight")).isEqualTo(Outcome.SKIPPED_DONE);
			assertThat(instance.fire("midnight")).isEqualTo(Outcome.SKIPPED_DONE);
			set("2026-11-30T00:00:00Z");
			assertThat(instance.fire("midnight")).isEqualTo(Outcome.SKIPPED_DONE);
		}
		set("2026-12-01T00:00:00Z");
		assertThat(other.fire("midnight")).isEqualTo(Outcome.EXECUTED);
	}

	@Test
	@DisplayName("C48 a clock that jumps forward by a day and back runs nothing for tomorrow, and loses no day")
	void clockThatJumpsForwardAndBack() {
		set("2026-11-29T00:00:00Z");
		assertThat(this.one.fire("midnight")).isEqualTo(Outcome.EXECUTED);
		this.one.offset = Duration.ofDays(1);
		assertThatExceptionOfType(MutexException.class).isThrownBy(() -> this.one.call("midnight", true))
			.withMessageContaining("after the time of the memory store");
		this.one.offset = Duration.ZERO;
		assertThat(this.one.fire("midnight")).isEqualTo(Outcome.SKIPPED_DONE);
		set("2026-11-30T00:00:00Z");
		assertThat(this.one.fire("midnight")).isEqualTo(Outcome.EXECUTED);
	}

	@Test
	@DisplayName("C48 a clock that is set back 2 s while an early call waits for its tick loses nothing")
	void clockSetBackWhileTheTimerWaits() {
		for (String day : new String[] { "2026-11-29", "2026-11-30" }) {
			set(Instant.parse(day + "T00:00:00Z").minusMillis(400).toString());
			this.one.whilePausing = (pauses) -> {
				if (pauses == 1) {
					this.time.updateAndGet((now) -> now.minusSeconds(2));
				}
			};
			assertThat(this.one.fire("midnight")).isEqualTo(Outcome.EXECUTED);
			assertThat(this.time.get()).isAfterOrEqualTo(day + "T00:00:00Z");
			assertThat(this.one.pauses).isGreaterThan(2);
			assertThat(this.one.lastUnit()).isEqualTo(day);
		}
	}

	@Test
	@DisplayName("C43 timers that are 5 ms early at midnight lose no day")
	void timerThatIsEarlyAtMidnight() {
		for (int day = 1; day <= 20; day++) {
			Instant midnight = Instant.parse("2026-11-01T00:00:00Z").plus(Duration.ofDays(day - 1));
			set(midnight.minusMillis(5).toString());
			assertThat(this.one.fire("midnight")).isEqualTo(Outcome.EXECUTED);
			assertThat(this.one.lastUnit()).isEqualTo(midnight.toString().substring(0, 10));
			// and the timer fires again at the right time
			assertThat(this.one.fire("midnight")).isEqualTo(Outcome.SKIPPED_DONE);
		}
	}

	@Test
	void tenMinutesOfATenMinuteJobLoseNoFiring() {
		Random random = new Random(42);
		for (int firing = 0; firing < 20; firing++) {
			Instant at = Instant.parse("2026-11-29T00:00:00Z").plus(Duration.ofMinutes(10L * firing));
			set(at.plusMillis(random.nextInt(-400, 500)).toString());
			assertThat(this.one.fire("tenMinutes")).as("firing %s", firing).isEqualTo(Outcome.EXECUTED);
			set(at.plus(Duration.ofMinutes(5)).toString());
			assertThat(this.one.fire("tenMinutes")).isEqualTo(Outcome.SKIPPED_DONE);
		}
	}

	@Test
	void clocksThirtySecondsApartMakeOneRunPerTick() {
		Instance ahead = new Instance(Duration.ofSeconds(30));
		for (int tick = 0; tick < 20; tick++) {
			Instant at = Instant.parse("2026-11-29T00:00:00Z").plus(Duration.ofMinutes(5L * tick));
			set(at.minusSeconds(30).toString());
			assertThat(ahead.fire("fiveMinutes")).isEqualTo(Outcome.EXECUTED);
			assertThat(ahead.lastUnit()).isEqualTo(at.toString());
			set(at.toString());
			assertThat(this.one.fire("fiveMinutes")).isEqualTo(Outcome.SKIPPED_DONE);
			assertThat(this.one.lastUnit()).isEqualTo(at.toString());
		}
	}

	@ParameterizedTest
	@EnumSource(names = { "FILE", "POSTGRESQL", "MARIADB", "REDIS" })
	void clocksThirtySecondsApartMakeOneRunPerTickOnRealStores(Store real, @TempDir Path directory) {
		String namespace = "clocks-" + UUID.randomUUID();
		String address = real.prepare(directory);
		try (LockProvider first = real.open(address, namespace); LockProvider second = real.open(address, namespace)) {
			Instance behind = new Instance(Duration.ZERO, first);
			Instance ahead = new Instance(Duration.ofSeconds(30), second);
			behind.body = () -> LockSupport.parkNanos(Duration.ofMillis(10).toNanos());
			ahead.body = behind.body;
			Instant start = Instant.now().truncatedTo(ChronoUnit.HOURS).minus(Duration.ofHours(3));
			for (int tick = 0; tick < 20; tick++) {
				Instant at = start.plus(Duration.ofMinutes(5L * tick));
				set(at.minusSeconds(30).toString());
				assertThat(ahead.fire("fiveMinutes")).isEqualTo(Outcome.EXECUTED);
				set(at.toString());
				assertThat(behind.fire("fiveMinutes")).isEqualTo(Outcome.SKIPPED_DONE);
				assertThat(behind.lastUnit()).isEqualTo(at.toString());
			}
			assertThat(first.runs("five-minutes", 100)).hasSize(20)
				.allMatch((run) -> run.status() == Status.DONE && run.attempt() == 1);
			this.instances.forEach((instance) -> instance.context.close());
			this.instances.clear();
		}
	}

	@Test
	void firingThatIsLateBelongsToTheLastTickThatHasPassed() {
		Instance other = new Instance(Duration.ZERO);
		set("2026-11-29T00:00:00Z");
		assertThat(this.one.fire("fiveMinutes")).isEqualTo(Outcome.EXECUTED);
		// the firing of 00:05 comes after that of 00:10
		set("2026-11-29T00:10:00Z");
		assertThat(other.fire("fiveMinutes")).isEqualTo(Outcome.EXECUTED);
		set("2026-11-29T00:10:01Z");
		assertThat(this.one.fire("fiveMinutes")).isEqualTo(Outcome.SKIPPED_DONE);
		assertThat(this.one.lastUnit()).isEqualTo("2026-11-29T00:10:00Z");
	}

	@Test
	void runThatCrossesTheBoundaryBelongsToItsBeginning() {
		set("2026-11-29T23:59:00Z");
		this.one.body = () -> this.time.set(Instant.parse("2026-11-30T00:00:30Z"));
		assertThat(this.one.callByHand("unscheduledDay")).isEqualTo(Outcome.EXECUTED);
		assertThat(this.one.lastUnit()).isEqualTo("2026-11-29");
		this.one.body = () -> {
		};
		assertThat(this.one.callByHand("unscheduledDay")).isEqualTo(Outcome.EXECUTED);
		assertThat(this.one.lastUnit()).isEqualTo("2026-11-30");
		assertThat(this.one.callByHand("unscheduledDay")).isEqualTo(Outcome.SKIPPED_DONE);
	}

	@Test
	@DisplayName("C45 the last days of a year belong to the week that they lie in")
	void weekAndYearBoundaries() {
		set("2025-12-28T23:59:59Z");
		assertThat(this.one.callByHand("unscheduledWeek")).isEqualTo(Outcome.EXECUTED);
		set("2025-12-29T00:00:00Z");
		assertThat(this.one.callByHand("unscheduledWeek")).isEqualTo(Outcome.EXECUTED);
		assertThat(this.one.callByHand("unscheduledYear")).isEqualTo(Outcome.EXECUTED);
		set("2025-12-31T23:59:59Z");
		assertThat(this.one.callByHand("unscheduledWeek")).isEqualTo(Outcome.SKIPPED_DONE);
		assertThat(this.one.callByHand("unscheduledYear")).isEqualTo(Outcome.SKIPPED_DONE);
		set("2026-01-01T00:00:00Z");
		assertThat(this.one.callByHand("unscheduledWeek")).isEqualTo(Outcome.SKIPPED_DONE);
		assertThat(this.one.callByHand("unscheduledYear")).isEqualTo(Outcome.EXECUTED);
	}

	private void set(String instant) {
		this.time.set(Instant.parse(instant));
	}

	/** An instance whose clock is ahead of the time by an offset. */
	private final class Instance {

		private final MutexContext context;

		private Duration offset;

		private int pauses;

		private Consumer<Integer> whilePausing = (pauses) -> {
		};

		private Runnable body = () -> {
		};

		Instance(Duration offset) {
			this(offset, SimulatedClockTests.this.store);
		}

		Instance(Duration offset, LockProvider store) {
			this.offset = offset;
			this.context = MutexContext.on(store).tickWait(new TickWait(this::now, this::pause));
			this.context.context.registerBean("body", Runnable.class, () -> () -> this.body.run());
			this.context.start(Jobs.class);
			SimulatedClockTests.this.instances.add(this);
		}

		private Instant now() {
			return SimulatedClockTests.this.time.get().plus(this.offset);
		}

		private void pause(Duration time) {
			SimulatedClockTests.this.time.updateAndGet((now) -> now.plus(time.dividedBy(2)).plusNanos(1));
			this.whilePausing.accept(++this.pauses);
		}

		Outcome fire(String method) {
			this.pauses = 0;
			call(method, true);
			return lastOutcome();
		}

		Outcome callByHand(String method) {
			call(method, false);
			return lastOutcome();
		}

		void call(String name, boolean byScheduler) {
			Jobs jobs = this.context.bean(Jobs.class);
			try {
				Method method = jobs.getClass().getMethod(name);
				if (byScheduler) {
					new ScheduledMethodRunnable(jobs, method).run();
				}
				else {
					method.invoke(jobs);
				}
			}
			catch (ReflectiveOperationException ex) {
				throw new IllegalStateException(ex);
			}
		}

		private Outcome lastOutcome() {
			List<MutexListener.Run> runs = this.context.runs;
			return runs.get(runs.size() - 1).outcome();
		}

		@Nullable String lastUnit() {
			List<MutexListener.Run> runs = this.context.runs;
			return runs.get(runs.size() - 1).unit();
		}

	}

	static class Jobs {

		private final Runnable body;

		Jobs(Runnable body) {
			this.body = body;
		}

		@Scheduled(cron = "0 0 2 * * *", zone = "UTC")
		@SingleRun(key = "fast", per = "day")
		public void fast() {
			this.body.run();
		}

		@Scheduled(cron = "0 30 2 * * *", zone = "Europe/Paris")
		@SingleRun(key = "night", per = "day")
		public void night() {
			this.body.run();
		}

		@Scheduled(cron = "0 30 2 * * *", zone = "Europe/Paris")
		@SingleRun(key = "night-hour", per = "hour")
		public void nightHour() {
			this.body.run();
		}

		@Scheduled(cron = "0 0 0 * * *", zone = "UTC")
		@SingleRun(key = "midnight", per = "day")
		public void midnight() {
			this.body.run();
		}

		@Scheduled(cron = "0 */10 * * * *", zone = "UTC")
		@SingleRun(key = "ten-minutes", per = "10m")
		public void tenMinutes() {
			this.body.run();
		}

		@Scheduled(cron = "0 */5 * * * *", zone = "UTC")
		@SingleRun("five-minutes")
		public void fiveMinutes() {
			this.body.run();
		}

		@SingleRun(key = "day", per = "day", zone = "UTC")
		public void unscheduledDay() {
			this.body.run();
		}

		@SingleRun(key = "week", per = "week", zone = "UTC")
		public void unscheduledWeek() {
			this.body.run();
		}

		@SingleRun(key = "year", per = "year", zone = "UTC")
		public void unscheduledYear() {
			this.body.run();
		}

	}

}
