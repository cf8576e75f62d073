package io.mutex.benchmarks;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;

import javax.sql.DataSource;

import io.mutex.annotation.SingleRun;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

/**
 * Two instances of an application with one scheduled job, watched while nothing is due
 * and at every firing.
 */
final class Ticks {

	private static final String EVERY_SECOND = "* * * * * *";

	private static final int WARM_UP = 3;

	private static final String NEVER_SOON = "0 0 0 29 2 *";

	private Ticks() {
	}

	static void postgres(Scale scale, Servers servers, Results results) throws Exception {
		String url = Servers.newDatabase(servers.postgres());
		CountingDriver one = new CountingDriver(url);
		CountingDriver other = new CountingDriver(url);
		idle(scale, results, "PostgreSQL", () -> instance("one", NEVER_SOON, one, Map.of()), one::statements);
		try (ConfigurableApplicationContext first = instance("one", EVERY_SECOND, one, Map.of());
				ConfigurableApplicationContext second = instance("other", EVERY_SECOND, other, Map.of())) {
			List<Firing> firings = watch(scale, List.of(first, second), one::statements, other::statements);
			long validations = one.validations() + other.validations();
			results.add(Target.atMost(2, "", "statements", "PostgreSQL, one firing, the instance that runs",
					Spread.of(firings.stream().mapToDouble((firing) -> firing.sentBy(firing.winner())))));
			results.add(Target.atMost(1, "", "statement", "PostgreSQL, one firing, the instance that does not",
					Spread.of(firings.stream().mapToDouble((firing) -> firing.sentBy(1 - firing.winner())))));
			report(results, "PostgreSQL", firings,
					"Its pools asked " + validations + " times whether a connection that had rested still lived.");
		}
	}

	static void redis(Scale scale, Servers servers, Results results) throws Exception {
		Map<String, String> properties = Map.of("mutex.provider", "redis", "spring.data.redis.host",
				servers.redis().host(), "spring.data.redis.port", Integer.toString(servers.redis().port()),
				"spring.data.redis.timeout", "5s");
		try (RedisMonitor monitor = new RedisMonitor(servers.redis())) {
			idle(scale, results, "Redis", () -> instance("one", NEVER_SOON, null, properties), monitor::count);
			try (ConfigurableApplicationContext first = instance("one", EVERY_SECOND, null, properties);
					ConfigurableApplicationContext second = instance("other", EVERY_SECOND, null, properties)) {
				List<Firing> firings = watch(scale, List.of(first, second), monitor::count);
				results.add(Target.atMost(3, "", "commands", "Redis, one firing, both instances",
						Spread.of(firings.stream().mapToDouble((firing) -> firing.sentBy(0)))));
				report(results, "Redis", firings, "Commands as the server saw them.");
			}
		}
	}

	@SafeVarargs
	private static List<Firing> watch(Scale scale, List<ConfigurableApplicationContext> instances,
			Callable<Long>... sent) throws Exception {
		BlockingQueue<Begun> begun = new LinkedBlockingQueue<>();
		for (int instance = 0; instance < instances.size(); instance++) {
			instances.get(instance).getBean(Job.class).report(instance, begun);
		}
		// the first ones open connections, and prepare them
		for (int warm = 0; warm < WARM_UP; warm++) {
			begun.poll(10, TimeUnit.SECONDS);
		}
		List<Firing> firings = new ArrayList<>();
		sleepUntil(Instant.now().truncatedTo(ChronoUnit.SECONDS).plusMillis(1500));
		for (int tick = 0; tick < scale.ticks(); tick++) {
			begun.clear();
			long[] before = counts(sent);
			sleepUntil(Instant.now().truncatedTo(ChronoUnit.SECONDS).plusMillis(1500));
			long[] after = counts(sent);
			List<Long> differences = new ArrayList<>();
			for (int i = 0; i < sent.length; i++) {
				differences.add(after[i] - before[i]);
			}
			firings.add(new Firing(differences, List.copyOf(begun)));
		}
		return firings;
	}

	private static long[] counts(Callable<Long>[] sent) throws Exception {
		long[] counts = new long[sent.length];
		for (int i = 0; i < sent.length; i++) {
			counts[i] = sent[i].call();
		}
		return counts;
	}

	private static void idle(Scale scale, Results results, String store,
			Supplier<ConfigurableApplicationContext> instance, Callable<Long> sent) throws Exception {
		try (ConfigurableApplicationContext context = instance.get()) {
			TimeUnit.SECONDS.sleep(1);
			long before = sent.call();
			TimeUnit.SECONDS.sleep(scale.watchSeconds());
			double perMinute = (sent.call() - before) * 60.0 / scale.watchSeconds();
			results.add(Target.atMost(0, "", "statements a minute",
					store + ", an idle instance (watched for " + scale.watchSeconds() + " s)", Spread.of(perMinute)));
		}
	}

	private static void report(Results results, String store, List<Firing> firings, String notes) {
		double[] late = firings.stream()
			.flatMap((firing) -> firing.begun().stream())
			.mapToDouble((begun) -> late(begun.moment()))
			.toArray();
		if (late.length != firings.size()) {
			throw new IllegalStateException(firings.size() + " firings, but " + late.length + " executions");
		}
		Spread spread = Spread.of(late);
		results.add(Target.atMost(50, "ms", "late", store + ", one firing, begin of the body (worst)",
				Spread.of(spread.max())));
		results.add(Target.atLeast(0, "ms", "late: never early", store + ", one firing, begin of the body (earliest)",
				Spread.of(spread.min())));
		results.add(new Results.Table(store + ", two instances, a job every second", notes,
				List.of("firings", "executions", "sent by both", "begin after the tick, ms", "spread"),
				List.of(List.of(Integer.toString(firings.size()), Integer.toString(late.length), Long.toString(
						firings.stream().flatMap((firing) -> firing.sent().stream()).mapToLong(Long::longValue).sum()),
						spread.middle(), spread.range()))));
	}

	// of a firing at a full second
	private static double late(Instant begun) {
		Instant tick = begun.plusMillis(500).truncatedTo(ChronoUnit.SECONDS);
		return Duration.between(tick, begun).toNanos() / 1e6;
	}

	private static void sleepUntil(Instant moment) throws InterruptedException {
		TimeUnit.NANOSECONDS.sleep(Math.max(0, Duration.between(Instant.now(), moment).toNanos()));
	}

	private static ConfigurableApplicationContext instance(String name, String cron, @Nullable DataSource dataSource,
			Map<String, String> more) {
		Map<String, Object> properties = new TreeMap<>(Map.of("mutex.provider", "jdbc", "mutex.namespace",
				"ticks-" + cron.length(), "mutex.instance-id", name, "bench.cron", cron, "spring.main.banner-mode",
				"off", "spring.main.register-shutdown-hook", "false"));
		properties.putAll(more);
		return new SpringApplicationBuilder(Instance.class).web(WebApplicationType.NONE)
			.properties(properties)
			.initializers((context) -> {
				if (dataSource != null) {
					((GenericApplicationContext) context).registerBean(DataSource.class, () -> dataSource);
				}
			})
			.run();
	}

	/**
	 * What one firing cost, and when its bodies began.
	 *
	 * @param sent what each instance sent, or both if they cannot be told apart
	 * @param begun when a body began
	 */
	private record Firing(List<Long> sent, List<Begun> begun) {

		long sentBy(int instance) {
			return this.sent.get(instance);
		}

		int winner() {
			return this.begun.isEmpty() ? 0 : this.begun.get(0).instance();
		}

	}

	/**
	 * The begin of a body.
	 *
	 * @param instance where
	 * @param moment when
	 */
	private record Begun(int instance, Instant moment) {

	}

	/**
	 * One instance of the application.
	 */
	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration(exclude = DataSourceAutoConfiguration.class)
	@EnableScheduling
	@Import(Job.class)
	static class Instance {

	}

	/**
	 * Its job.
	 */
	static class Job {

		private volatile Consumer<Instant> begun = (moment) -> {
		};

		void report(int instance, BlockingQueue<Begun> begun) {
			this.begun = (moment) -> begun.add(new Begun(instance, moment));
		}

		@Scheduled(cron = "${bench.cron}")
		@SingleRun(key = "tick")
		void run() {
			this.begun.accept(Instant.now());
		}

	}

}
