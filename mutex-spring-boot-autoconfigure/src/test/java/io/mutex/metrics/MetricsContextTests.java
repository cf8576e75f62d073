package io.mutex.metrics;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.mutex.LockHazard;
import io.mutex.LockRequest;
import io.mutex.MutexTemplate;
import io.mutex.annotation.SingleRun;
import io.mutex.autoconfigure.MutexAutoConfiguration;
import io.mutex.engine.LockEngine;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.event.EventListener;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Meters and observations in an application.
 */
class MetricsContextTests {

	private final SimpleMeterRegistry meters = new SimpleMeterRegistry();

	private final Observations observations = new Observations();

	private ApplicationContextRunner runner() {
		return new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(MutexAutoConfiguration.class, MetricsAutoConfiguration.class))
			.withPropertyValues("spring.application.name=test", "mutex.provider=memory")
			.withBean(MeterRegistry.class, () -> this.meters)
			.withBean(ObservationRegistry.class, this.observations::registry)
			.withBean(Job.class);
	}

	private double gauge(String meter, String name) {
		return this.meters.get(meter).tag("name", name).gauge().value();
	}

	@Test
	void knowsNothingOfAJobThatHasNotRun() {
		runner().run((context) -> {
			assertThat(gauge("mutex.singlerun.last.success.age", "daily")).isNaN();
			assertThat(gauge("mutex.singlerun.overdue", "daily")).isNaN();
			assertThat(this.meters.get("mutex.clock.offset").gauge().value()).isNaN();
			assertThat(this.meters.get("mutex.singlerun.long.holds").tag("name", "daily").functionCounter().count())
				.isZero();
		});
	}

	@Test
	void knowsTheAgeOfASuccess() {
		runner().run((context) -> {
			context.getBean(Job.class).daily();
			assertThat(gauge("mutex.singlerun.last.success.age", "daily")).isBetween(0.0, 60.0);
			assertThat(gauge("mutex.singlerun.overdue", "daily")).isZero();
			assertThat(this.meters.get("mutex.clock.offset").gauge().value()).isBetween(-1.0, 60.0);
		});
	}

	@Test
	@DisplayName("C129 ten thousand keys make no meter of their own")
	void metersDoNotGrowWithKeys() {
		runner().run((context) -> {
			Job job = context.getBean(Job.class);
			job.importFile("first");
			int before = this.meters.getMeters().size();
			for (int file = 0; file < 10_000; file++) {
				job.importFile("file-" + file);
			}
			assertThat(this.meters.getMeters()).hasSize(before);
			assertThat(this.meters.getMeters()).flatMap((meter) -> meter.getId().getTags())
				.extracting(Tag::getValue)
				.noneMatch((value) -> value.contains("file-"));
			assertThat(gauge("mutex.singlerun.last.success.age", "import:#{#file}")).isBetween(0.0, 60.0);
		});
	}

	@Test
	void observesTheWorkAndNotTheSkip() {
		runner().run((context) -> {
			context.getBean(Job.class).daily();
			context.getBean(Job.class).daily();
			assertThat(this.observations.ended).singleElement().satisfies((ended) -> {
				assertThat(ended.getName()).isEqualTo("mutex.singlerun");
				assertThat(low(ended)).isEqualTo(Map.of("name", "daily"));
				assertThat(high(ended)).containsEntry("key", "daily").containsKeys("token", "unit");
				assertThat(ended.getError()).isNull();
			});
		});
	}

	@Test
	void observesFailuresAndStages() {
		runner().run((context) -> {
			MutexTemplate template = context.getBean(MutexTemplate.class);
			assertThat(template).isInstanceOf(ObservedTemplate.class);
			assertThat(context).hasSingleBean(LockEngine.class);
			IllegalStateException failure = new IllegalStateException("no paper");
			assertThatExceptionOfType(IllegalStateException.class)
				.isThrownBy(() -> template.execute(LockRequest.of("failing"), (lease) -> {
					throw failure;
				}));
			assertThat(this.observations.ended).singleElement()
				.satisfies((ended) -> assertThat(ended.getError()).isSameAs(failure));
			CompletableFuture<String> stage = new CompletableFuture<>();
			template.execute(LockRequest.of("staged"), (lease) -> stage);
			assertThat(this.observations.ended).hasSize(1);
			stage.complete("done");
			assertThat(this.observations.ended).hasSize(2).allMatch((ended) -> ended.getName().equals("mutex.fenced"));
		});
	}

	@Test
	void hazardIsCountedAndPublished() {
		Hazards hazards = new Hazards();
		runner().withPropertyValues("mutex.monitor.nesting-limit=1")
			.withBean(Hazards.class, () -> hazards)
			.run((context) -> {
				MutexTemplate template = context.getBean(MutexTemplate.class);
				LockRequest inner = LockRequest.of("inner:1").withName("inner:#{#id}");
				template.execute(LockRequest.of("outer"), (outer) -> template.execute(inner, (lease) -> null));
				Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> !hazards.heard.isEmpty());
				assertThat(hazards.heard).singleElement().satisfies((hazard) -> {
					assertThat(hazard.kind()).isEqualTo(LockHazard.Kind.DEEP_NESTING);
					assertThat(hazard.key()).isEqualTo("inner:1");
				});
				Awaitility.await()
					.atMost(Duration.ofSeconds(60))
					.until(() -> this.meters.find("mutex.hazards").counter() != null);
				assertThat(this.meters.get("mutex.hazards")
					.tags("name", "inner:#{#id}", "provider", "memory", "kind", "deep_nesting")
					.counter()
					.count()).isOne();
			});
	}

	private static Map<String, String> low(Observation.Context context) {
		Map<String, String> values = new TreeMap<>();
		context.getLowCardinalityKeyValues().forEach((value) -> values.put(value.getKey(), value.getValue()));
		return values;
	}

	private static Map<String, String> high(Observation.Context context) {
		Map<String, String> values = new TreeMap<>();
		context.getHighCardinalityKeyValues().forEach((value) -> values.put(value.getKey(), value.getValue()));
		return values;
	}

	/** Keeps the contexts of all observations that have ended. */
	private static final class Observations implements ObservationHandler<Observation.Context> {

		private final List<Observation.Context> ended = new ArrayList<>();

		private final ObservationRegistry registry = ObservationRegistry.create();

		ObservationRegistry registry() {
			this.registry.observationConfig().observationHandler(this);
			return this.registry;
		}

		@Override
		public void onStop(Observation.Context context) {
			this.ended.add(context);
		}

		@Override
		public boolean supportsContext(Observation.Context context) {
			return true;
		}

	}

	/** Hears of hazards as events of the application. */
	static class Hazards {

		private final List<LockHazard> heard = new CopyOnWriteArrayList<>();

		@EventListener
		void hear(LockHazard hazard) {
			this.heard.add(hazard);
		}

	}

	/** Jobs whose schedule nothing fires. */
	static class Job {

		@Scheduled(cron = "0 0 3 * * *", zone = "Europe/Oslo")
		@SingleRun(key = "daily")
		void daily() {
		}

		@SingleRun(key = "import:#{#file}", per = "day")
		void importFile(String file) {
		}

	}

}
