package io.mutex.proof;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

import javax.sql.DataSource;

import io.mutex.MutexTemplate;
import io.mutex.annotation.SingleRun;
import io.mutex.engine.EngineSettings;
import io.mutex.engine.LockEngine;
import io.mutex.interceptor.InterceptorSettings;
import io.mutex.interceptor.MutexAnnotationBeanPostProcessor;
import io.mutex.jdbc.JdbcLockProvider;
import io.mutex.jdbc.JdbcSettings;
import io.mutex.transaction.CommitListenerPostProcessor;
import io.mutex.transaction.FenceCheck;
import io.mutex.transaction.TransactionalRuns;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Isolation;
import org.springframework.transaction.annotation.Transactional;

/**
 * An instance of an application whose runs record their success in their transaction. A
 * test can do something right before and right after each of its commits.
 */
final class TransactionalInstance implements AutoCloseable {

	/** How many runs an instance has at once. */
	static final int THREADS = 8;

	private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();

	private final LockEngine engine;

	TransactionalInstance(String url, Runnable beforeCommit, Runnable afterCommit) {
		DataSource work = new DriverManagerDataSource(url);
		this.engine = new LockEngine(new JdbcLockProvider(work, "proof", JdbcSettings.defaults()),
				EngineSettings.defaults("instance"), List.of());
		this.context.registerBean(LockEngine.class, () -> this.engine);
		this.context.registerBean(DataSource.class, () -> new CommitWatch(work, beforeCommit, afterCommit));
		this.context.register(Beans.class);
		this.context.refresh();
	}

	public static void main(String[] arguments) throws IOException, InterruptedException {
		String url = arguments[0];
		int jobs = Integer.parseInt(arguments[1]);
		boolean stops = "stop".equals(arguments[2]);
		BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
		AtomicBoolean warm = new AtomicBoolean();
		Runnable beforeCommit = () -> {
			System.out.println("CHECKED");
			// until the parent has stopped this process, and some more
			pause((stops && warm.get()) ? 4000 : ThreadLocalRandom.current().nextInt(20));
		};
		try (TransactionalInstance instance = new TransactionalInstance(url, beforeCommit,
				() -> pause(stops ? 0 : ThreadLocalRandom.current().nextInt(10)))) {
			ExecutorService threads = Executors.newFixedThreadPool(THREADS);
			if (stops) {
				// connections are made and code is compiled before the clock runs
				instance.warmUp(threads);
				warm.set(true);
			}
			System.out.println("READY");
			input.readLine();
			for (int job = 0; job < jobs; job++) {
				String key = "job-" + job;
				threads.execute(() -> instance.run(key));
			}
			threads.shutdown();
			threads.awaitTermination(5, TimeUnit.MINUTES);
			System.out.println("FINISHED");
		}
	}

	private void warmUp(ExecutorService threads) throws InterruptedException {
		CountDownLatch warm = new CountDownLatch(THREADS);
		for (int job = 0; job < THREADS; job++) {
			String key = "warm-" + job;
			threads.execute(() -> {
				run(key);
				warm.countDown();
			});
		}
		warm.await();
	}

	void run(String key) {
		try {
			this.context.getBean(Jobs.class).run(key);
			System.out.println("END " + key);
		}
		catch (RuntimeException ex) {
			System.out.println("FAILED " + key + " " + ex.getClass().getSimpleName() + ": " + ex.getMessage());
		}
	}

	Jobs jobs() {
		return this.context.getBean(Jobs.class);
	}

	static void pause(int millis) {
		LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(millis));
	}

	@Override
	public void close() {
		this.context.close();
		this.engine.close();
	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement(proxyTargetClass = true)
	static class Beans {

		@Bean
		static FenceCheck fenceCheck() {
			return new FenceCheck(List::of);
		}

		@Bean
		static CommitListenerPostProcessor commitListenerPostProcessor(FenceCheck check) {
			return new CommitListenerPostProcessor(check);
		}

		@Bean
		static TransactionalRuns transactionalRuns(ObjectProvider<LockEngine> engine, FenceCheck check) {
			return new TransactionalRuns(engine::getIfAvailable, check);
		}

		@Bean
		static MutexAnnotationBeanPostProcessor mutexPostProcessor(ObjectProvider<MutexTemplate> template,
				ObjectProvider<TransactionalRuns> runs) {
			return new MutexAnnotationBeanPostProcessor(template::getObject, InterceptorSettings::defaults,
					runs::getObject);
		}

		@Bean
		JdbcTransactionManager transactionManager(DataSource dataSource) {
			return new JdbcTransactionManager(dataSource);
		}

		@Bean
		Jobs jobs(DataSource dataSource) {
			return new Jobs(new JdbcTemplate(dataSource));
		}

	}

	static class Jobs {

		private final JdbcTemplate jdbc;

		Jobs(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		@SingleRun(key = "#{#key}", unit = "u", lease = "2s", waitFor = "30s")
		@Transactional(isolation = Isolation.READ_COMMITTED)
		public void run(String key) {
			System.out.println("BEGIN " + key);
			pause(ThreadLocalRandom.current().nextInt(20));
			this.jdbc.update("INSERT INTO effect (job) VALUES (?)", key);
			pause(ThreadLocalRandom.current().nextInt(20));
		}

	}

}
