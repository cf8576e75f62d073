package io.mutex.benchmarks;

import java.lang.management.ManagementFactory;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

import com.sun.management.OperatingSystemMXBean;
import io.mutex.FencingPolicy;
import io.mutex.Lease;
import io.mutex.LockProvider;
import io.mutex.LockRequest;
import io.mutex.engine.EngineSettings;
import io.mutex.engine.LockEngine;
import io.mutex.jdbc.JdbcLockProvider;
import io.mutex.jdbc.JdbcSettings;
import io.mutex.redis.RedisLockProvider;
import io.mutex.redis.RedisSettings;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Ten thousand leases that one JVM holds and renews.
 */
final class ManyLeases {

	private static final int LEASES = 10_000;

	private static final Duration LEASE = Duration.ofSeconds(30);

	private static final Duration PATIENCE = Duration.ofMinutes(2);

	private static final List<String> HEAD = List.of("", "renewed/s", "flushes or statements/s", "leases each",
			"lost leases", "processor, % of one");

	private final AtomicLong renewals = new AtomicLong();

	private final AtomicLong renewed = new AtomicLong();

	private ManyLeases() {
	}

	static void redis(Scale scale, Servers servers, Results results) throws Exception {
		LettuceConnectionFactory connections = RedisStore.connections(servers.redis().host(), servers.redis().port());
		try (LockProvider provider = new RedisLockProvider(connections, "many", RedisSettings.defaults())) {
			ManyLeases leases = new ManyLeases();
			results.add(new Results.Table("Redis, 10 000 leases of 30 s held by one JVM",
					"A flush is one pipeline of the engine, and holds the scripts of up to 500 leases.", HEAD,
					List.of(leases.watch(scale, provider, leases.renewals::get, 100,
							"Redis, 10 000 leases held: flushes for 100 leases", results))));
		}
		finally {
			connections.destroy();
		}
	}

	static void postgres(Scale scale, Servers servers, Results results) throws Exception {
		CountingDriver database = new CountingDriver(Servers.newDatabase(servers.postgres()));
		try (LockProvider provider = new JdbcLockProvider(database, "many", JdbcSettings.defaults())) {
			ManyLeases leases = new ManyLeases();
			results.add(new Results.Table("PostgreSQL, 10 000 leases of 30 s held by one JVM",
					"Every statement that is sent meanwhile is counted.", HEAD,
					List.of(leases.watch(scale, provider, database::statements, 500,
							"PostgreSQL, 10 000 leases held: statements for 500 leases", results))));
		}
	}

	private List<String> watch(Scale scale, LockProvider provider, LongSupplier sent, int each, String work,
			Results results) throws Exception {
		int count = scale.name().equals("smoke") ? LEASES / 10 : LEASES;
		CompletableFuture<Boolean> held = new CompletableFuture<>();
		try (LockEngine engine = new LockEngine(counting(provider), EngineSettings.defaults("pod-1"), List.of())) {
			for (int key = 0; key < count; key++) {
				LockRequest request = LockRequest.of("many-" + key).withLease(LEASE).withFencing(FencingPolicy.NONE);
				engine.<CompletableFuture<Boolean>, RuntimeException>execute(request, (lease) -> held);
			}
			List<Long> begin = new ArrayList<>(
					List.of(System.nanoTime(), processorNanos(), this.renewed.get(), sent.getAsLong()));
			TimeUnit.SECONDS.sleep(Math.max(scale.watchSeconds(), 12));
			double seconds = (System.nanoTime() - begin.get(0)) / 1e9;
			double processor = (processorNanos() - begin.get(1)) / 1e7 / seconds;
			long renewals = this.renewed.get() - begin.get(2);
			long statements = sent.getAsLong() - begin.get(3);
			long lost = count - engine.leases().stream().filter(Lease::isValid).count();
			held.complete(true);
			engine.drain(PATIENCE);
			results.add(Target.atMost(1, "", "each", work,
					Spread.of((renewals != 0) ? (double) statements * each / renewals : Double.POSITIVE_INFINITY)));
			return List.of(provider.name(), Spread.number(renewals / seconds), Spread.number(statements / seconds),
					Spread.number((double) renewals / Math.max(1, statements)), Long.toString(lost),
					Spread.number(processor));
		}
	}

	private static long processorNanos() {
		return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
	}

	private LockProvider counting(LockProvider provider) {
		return (LockProvider) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { LockProvider.class },
				(proxy, method, arguments) -> {
					if (method.getName().equals("renew")) {
						this.renewals.incrementAndGet();
						this.renewed.addAndGet(((List<?>) arguments[0]).size());
					}
					try {
						return method.invoke(provider, arguments);
					}
					catch (InvocationTargetException ex) {
						throw ex.getTargetException();
					}
				});
	}

}
