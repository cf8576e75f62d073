package io.mutex.autoconfigure;

import java.util.ArrayList;
import java.util.List;
import java.util.Scanner;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import io.mutex.annotation.Fenced;
import io.mutex.annotation.Fencing;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * One instance of an application that counts in a database, by reading, adding one and
 * writing, in transactions that take their time to commit.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
class CountingInstance {

	/** How many threads count, each once. */
	static final int THREADS = 10;

	private static final long COMMIT_MILLIS = 50;

	public static void main(String[] arguments) throws Exception {
		try (ConfigurableApplicationContext context = new SpringApplicationBuilder(CountingInstance.class)
			.web(WebApplicationType.NONE)
			.run(arguments)) {
			Counter counter = context.getBean(Counter.class);
			System.out.println("READY");
			new Scanner(System.in).nextLine();
			ExecutorService threads = Executors.newFixedThreadPool(THREADS);
			List<Future<?>> calls = new ArrayList<>();
			for (int i = 0; i < THREADS; i++) {
				calls.add(threads.submit(() -> counter.increment("a")));
			}
			for (Future<?> call : calls) {
				call.get();
			}
			threads.shutdown();
			System.out.println("DONE");
		}
	}

	@Bean
	Counter counter(JdbcTemplate jdbc) {
		return new Counter(jdbc);
	}

	static class Counter {

		private final JdbcTemplate jdbc;

		Counter(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		@Transactional
		@Fenced(key = "counter:#{#id}", waitFor = "2m", fencing = Fencing.NONE)
		public void increment(String id) {
			Integer value = this.jdbc.queryForObject("SELECT amount FROM counter WHERE id = ?", Integer.class, id);
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

				@Override
				public void beforeCommit(boolean readOnly) {
					pause();
				}

			});
			this.jdbc.update("UPDATE counter SET amount = ? WHERE id = ?", (value != null) ? value + 1 : 1, id);
		}

		private static void pause() {
			try {
				Thread.sleep(COMMIT_MILLIS);
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		}

	}

}
