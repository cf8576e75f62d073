package io.mutex.benchmarks;

import java.util.List;
import java.util.concurrent.TimeUnit;

import io.mutex.FencingPolicy;
import io.mutex.LockProvider;
import io.mutex.LockRequest;
import io.mutex.MutexTemplate;
import io.mutex.annotation.Fenced;
import io.mutex.annotation.Fencing;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/**
 * What an annotated call costs above the same call through the template, with locks in
 * memory, measured by JMH in a JVM of its own.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class InterceptorBenchmark {

	private static final LockRequest REQUEST = LockRequest.of("account").withFencing(FencingPolicy.NONE);

	private final ConfigurableApplicationContext context = new SpringApplicationBuilder(Instance.class)
		.web(WebApplicationType.NONE)
		.properties("mutex.provider=memory", "mutex.namespace=bench", "spring.main.banner-mode=off",
				"spring.main.register-shutdown-hook=false")
		.run();

	private final Service service = this.context.getBean(Service.class);

	private final MutexTemplate template = this.context.getBean(MutexTemplate.class);

	private final Work provider = new MutexCalls(this.context.getBean(LockProvider.class)).lock("pair");

	private int number;

	/**
	 * Stops the application.
	 */
	@TearDown
	public void stop() {
		this.context.close();
	}

	/**
	 * An annotated method with a constant key.
	 * @return something
	 */
	@Benchmark
	public int annotated() {
		return this.service.annotated(this.number++);
	}

	/**
	 * An annotated method whose key is evaluated.
	 * @return something
	 */
	@Benchmark
	public int annotatedWithExpression() {
		return this.service.evaluated(this.number++ & 7);
	}

	/**
	 * The same work through the template.
	 * @return something
	 */
	@Benchmark
	public Integer template() {
		return this.template.execute(REQUEST, (lease) -> this.service.plain(this.number++));
	}

	/**
	 * The pair of calls at the provider alone.
	 * @throws Exception never
	 */
	@Benchmark
	public void provider() throws Exception {
		this.provider.run(() -> this.number++);
	}

	static void measure(Scale scale, Servers servers, Results results) throws Exception {
		boolean smoke = scale.name().equals("smoke");
		boolean full = scale.name().equals("full");
		Options options = new OptionsBuilder().include(InterceptorBenchmark.class.getName())
			.forks(full ? 3 : 1)
			.warmupIterations(smoke ? 1 : 8)
			.warmupTime(TimeValue.milliseconds(smoke ? 200 : 1000))
			.measurementIterations(smoke ? 2 : 5)
			.measurementTime(TimeValue.milliseconds(smoke ? 200 : 1000))
			.jvmArgs("-Xmx512m", "-XX:+UseSerialGC")
			.verbosity(VerboseMode.SILENT)
			.build();
		Scores scores = new Scores(new Runner(options).run());
		double template = scores.of("template");
		results.add(Target.atMost(1, "µs", "a call", "The interceptor alone, constant key",
				Spread.of((scores.of("annotated") - template) / 1000)));
		results.add(Target.atMost(1, "µs", "a call", "The interceptor alone, evaluated key",
				Spread.of((scores.of("annotatedWithExpression") - template) / 1000)));
		results.add(new Results.Table("An annotated call with locks in memory (JMH)",
				"The interceptor alone is the annotated call less the same call through the template; the engine is "
						+ "the template less the provider.",
				List.of("", "µs", "error (99.9 %)"), List.of(scores.row("annotated"),
						scores.row("annotatedWithExpression"), scores.row("template"), scores.row("provider"))));
	}

	/**
	 * An application.
	 */
	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration(exclude = DataSourceAutoConfiguration.class)
	@Import(Service.class)
	static class Instance {

	}

	/**
	 * A service of it.
	 */
	static class Service {

		@Fenced(key = "account", fencing = Fencing.NONE)
		int annotated(int id) {
			return id;
		}

		@Fenced(key = "account:#{#id}", fencing = Fencing.NONE)
		int evaluated(int id) {
			return id;
		}

		int plain(int id) {
			return id;
		}

	}

}
