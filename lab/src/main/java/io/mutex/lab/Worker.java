package io.mutex.lab;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

import io.mutex.FencingPolicy;
import io.mutex.HeldLock;
import io.mutex.Lease;
import io.mutex.LeaseLostException;
import io.mutex.LockNotAcquiredException;
import io.mutex.LockProvider;
import io.mutex.LockRequest;
import io.mutex.MutexTemplate;
import io.mutex.RunResult;
import io.mutex.StaleFencingTokenException;
import io.mutex.lab.Event.Kind;
import io.mutex.redis.FencedRedisOperations;
import io.mutex.run.Outcome;
import io.mutex.run.RunUnit;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;

/**
 * A process that is an application with the starter. A thread for each key takes the lock
 * again and again, writes to guarded data, and writes down what it does.
 */
public final class Worker {

	static final List<String> KEYS = List.of("one", "two", "three");

	private static final Duration WAIT = Duration.ofSeconds(8);

	private final MutexTemplate template;

	private final LockProvider provider;

	private final Ledger ledger;

	private final Recorder recorder;

	private final FencingPolicy fencing;

	private final AtomicLong attempts = new AtomicLong(System.nanoTime());

	private volatile boolean stopped;

	private Worker(ConfigurableApplicationContext context, Ledger ledger, Recorder recorder) {
		this.template = context.getBean(MutexTemplate.class);
		this.provider = context.getBean(LockProvider.class);
		this.ledger = ledger;
		this.recorder = recorder;
		this.fencing = Boolean.getBoolean("lab.unfenced") ? FencingPolicy.NONE : FencingPolicy.STRICT;
	}

	public static void main(String[] arguments) throws Exception {
		Path directory = Path.of(arguments[1]);
		long seed = Long.parseLong(arguments[2]);
		ConfigurableApplicationContext context = new SpringApplicationBuilder(Application.class)
			.web(WebApplicationType.NONE)
			.run();
		Ledger ledger = ledger(context, directory);
		try (Recorder recorder = new Recorder(directory, arguments[0])) {
			Worker worker = new Worker(context, ledger, recorder);
			List<Thread> threads = new ArrayList<>();
			for (String key : KEYS) {
				Thread thread = new Thread(() -> worker.work(key, new Random(seed + key.hashCode())), key);
				thread.setDaemon(true);
				thread.start();
				threads.add(thread);
			}
			System.out.println("READY");
			awaitEnd();
			worker.stopped = true;
			for (Thread thread : threads) {
				thread.join(TimeUnit.SECONDS.toMillis(15));
			}
			System.out.println("DONE");
			awaitEnd();
			for (String key : KEYS) {
				ledger.entries(key)
					.forEach((entry) -> System.out.println("ENTRY " + key + " " + entry.format().strip()));
			}
			System.out.println("ENTRIES");
		}
		Runtime.getRuntime().halt(0);
	}

	private static void awaitEnd() throws IOException {
		while (System.in.read() != '\n') {
			// a line ends the work, another one asks for the data
		}
	}

	private static Ledger ledger(ConfigurableApplicationContext context, Path directory) {
		if (context.getBeanProvider(JdbcTemplate.class).getIfAvailable() != null) {
			return new SqlLedger(context.getBean(JdbcTemplate.class),
					context.getBean(PlatformTransactionManager.class));
		}
		if (context.getBeanProvider(FencedRedisOperations.class).getIfAvailable() != null) {
			return new RedisLedger(context.getBean(FencedRedisOperations.class),
					context.getBean(StringRedisTemplate.class));
		}
		return new FileLedger(directory);
	}

	private void work(String key, Random random) {
		while (!this.stopped) {
			if (random.nextInt(5) == 0) {
				run("job-" + key);
			}
			else {
				write(key, random);
			}
			pause(random.nextInt(10));
		}
	}

	private void write(String key, Random random) {
		Call call = new Call(this.recorder, this.attempts.incrementAndGet(), key);
		int hold = (random.nextInt(10) == 0) ? 2500 : random.nextInt(60);
		int probe = random.nextInt(6);
		LockRequest request = LockRequest.of(key).withWaitFor(WAIT).withFencing(this.fencing);
		attempt(call, () -> this.template.execute(request, (lease) -> {
			call.granted(lease);
			try {
				add(call, lease, hold);
				probe(call, key, probe);
			}
			finally {
				call.record(Kind.END, "");
			}
			return true;
		}));
	}

	private void attempt(Call call, Runnable body) {
		call.record(Kind.ACQUIRE, System.currentTimeMillis());
		try {
			body.run();
			call.record(Kind.RELEASED, "");
		}
		catch (LockNotAcquiredException ex) {
			call.record(Kind.REFUSED, ex.getReason());
		}
		catch (RuntimeException ex) {
			boolean lost = ex instanceof LeaseLostException || ex instanceof StaleFencingTokenException;
			call.record((call.hasBegun() || lost) ? Kind.LOST : Kind.UNKNOWN, ex.toString());
		}
		finally {
			// what the engine could not clear would end the next call
			Thread.interrupted();
		}
	}

	private void add(Call call, Lease lease, int hold) {
		long[] number = new long[1];
		try {
			this.ledger.add(lease, (next) -> {
				number[0] = next;
				stay(call, hold);
				call.record(Kind.WRITE, next);
			});
			call.record(Kind.WROTE, number[0]);
		}
		catch (StaleFencingTokenException ex) {
			call.record(Kind.STALE, number[0]);
			throw ex;
		}
		catch (RuntimeException ex) {
			call.record(Kind.DOUBTFUL, number[0]);
			throw ex;
		}
		call.isValid();
	}

	// A body that knows that it has lost its lease goes on: the storage is to refuse it.
	private static void stay(Call call, int millis) {
		long begin = System.nanoTime();
		boolean valid = call.isValid();
		while (valid && System.nanoTime() - begin < TimeUnit.MILLISECONDS.toNanos(millis)) {
			pause(10);
			valid = call.isValid();
		}
	}

	private void probe(Call call, String key, int probe) {
		if (probe > 1) {
			return;
		}
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

	private void run(String key) {
		String unit = Long.toString(TimeUnit.NANOSECONDS.toSeconds(System.nanoTime()));
		Call call = new Call(this.recorder, this.attempts.incrementAndGet(), key);
		LockRequest request = LockRequest.of(key).withUnit(RunUnit.of(unit)).withFencing(FencingPolicy.NONE);
		attempt(call, () -> {
			RunResult<Boolean> result = this.template.singleRun(request, (lease) -> {
				call.granted(lease);
				call.record(Kind.EFFECT, unit);
				stay(call, 5);
				call.record(Kind.END, "");
				return true;
			});
			if (result.outcome() == Outcome.EXECUTED) {
				call.record(Kind.RECORDED, unit);
			}
		});
	}

	private static void pause(int millis) {
		LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(millis));
	}

	/**
	 * The application, all of it configured by properties.
	 */
	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

	}

}
