package io.mutex.lab;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import java.util.UUID;

import io.mutex.FencingPolicy;
import io.mutex.HeldLock;
import io.mutex.LeaseLostException;
import io.mutex.LockNotAcquiredException;
import io.mutex.LockProvider;
import io.mutex.LockRequest;
import io.mutex.MutexTemplate;
import io.mutex.RunResult;
import io.mutex.StaleFencingTokenException;
import io.mutex.jdbc.JdbcFenceGuard;
import io.mutex.lab.Event.Kind;
import io.mutex.redis.FencedRedisOperations;
import io.mutex.redis.RedisFenceGuard;
import io.mutex.redis.RedisSettings;
import io.mutex.run.RunUnit;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;

/**
 * A process that is an application with the starter.
 */
public final class Worker extends Routine {

	private static final Duration WAIT = Duration.ofSeconds(8);

	// the port of a Redis for the guarded data alone, which the locks do not know of
	private static final int DATA = Integer.getInteger("lab.data", 0);

	private final MutexTemplate template;

	private final LockProvider provider;

	private Worker(ConfigurableApplicationContext context, Ledger ledger) {
		super(ledger);
		this.template = context.getBean(MutexTemplate.class);
		this.provider = context.getBean(LockProvider.class);
	}

	public static void main(String[] arguments) throws Exception {
		ConfigurableApplicationContext context = new SpringApplicationBuilder(Application.class)
			.web(WebApplicationType.NONE)
			.initializers((GenericApplicationContext starting) -> {
				if (DATA > 0) {
					starting.registerBean(RedisFenceGuard.class, () -> guard(data()));
				}
			})
			.run();
		new Worker(context, ledger(context, Path.of(arguments[1]))).play(arguments);
	}

	private static Ledger ledger(ConfigurableApplicationContext context, Path directory) {
		if (context.getBeanProvider(JdbcTemplate.class).getIfAvailable() != null) {
			return new SqlLedger(context.getBean(JdbcTemplate.class), context.getBean(PlatformTransactionManager.class),
					context.getBeanProvider(JdbcFenceGuard.class).getIfAvailable(),
					context.getEnvironment().getRequiredProperty("spring.datasource.url"));
		}
		if (context.getBeanProvider(FencedRedisOperations.class).getIfAvailable() != null) {
			return new RedisLedger(context.getBean(FencedRedisOperations.class),
					(DATA > 0) ? new StringRedisTemplate(data()) : context.getBean(StringRedisTemplate.class));
		}
		return new FileLedger(directory);
	}

	private static RedisFenceGuard guard(RedisConnectionFactory connections) {
		return new RedisFenceGuard(connections, "lab", RedisSettings.defaults(), Duration.ofDays(1));
	}

	// no bean, which the locks would not be told apart from
	private static RedisConnectionFactory data() {
		LettuceConnectionFactory connections = new LettuceConnectionFactory("localhost", DATA);
		connections.afterPropertiesSet();
		connections.start();
		return connections;
	}

	@Override
	protected void write(Call call, int hold, Random random) {
		int probe = random.nextInt(6);
		LockRequest request = LockRequest.of(call.key()).withWaitFor(WAIT).withFencing(FencingPolicy.STRICT);
		attempt(call, () -> this.template.execute(request, (lease) -> {
			call.granted(lease);
			try {
				add(call, lease, hold);
				probe(call, probe);
			}
			finally {
				call.record(Kind.END, "");
			}
			return true;
		}));
	}

	@Override
	protected Kind kind(Call call, RuntimeException failure) {
		if (failure instanceof LockNotAcquiredException) {
			return Kind.REFUSED;
		}
		boolean lost = failure instanceof LeaseLostException || failure instanceof StaleFencingTokenException;
		return lost ? Kind.LOST : super.kind(call, failure);
	}

	private void probe(Call call, int probe) {
		if (probe > 1) {
			return;
		}
		String key = call.key();
		try {
			String before = owner(key);
			if (probe == 0) {
				this.provider.release(key, UUID.randomUUID().toString().replace("-", ""), true);
			}
			else {
				this.provider.locks(100);
			}
			String after = owner(key);
			if (call.isValid()) {
				call.record((probe == 0) ? Kind.FOREIGN : Kind.LISTED, before + " -> " + after);
			}
		}
		catch (RuntimeException ex) {
			// the store does not answer: nothing was learned
		}
	}

	private String owner(String key) {
		return this.provider.lock(key).map((HeldLock lock) -> lock.nonce() + "/" + lock.token()).orElse("nobody");
	}

	@Override
	protected void run(Call call, String unit) {
		LockRequest request = LockRequest.of(call.key()).withUnit(RunUnit.of(unit)).withFencing(FencingPolicy.NONE);
		attempt(call, () -> {
			RunResult<Boolean> result = this.template.singleRun(request, (lease) -> {
				call.granted(lease);
				call.record(Kind.EFFECT, unit);
				stay(call, 5);
				call.record(Kind.END, "");
				return true;
			});
			switch (result.outcome()) {
				case EXECUTED -> call.record(Kind.RECORDED, unit);
				case SKIPPED_DONE -> call.record(Kind.SKIPPED, unit);
				default -> {
				}
			}
		});
	}

	/**
	 * The application, all of it configured by properties.
	 */
	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

	}

}
