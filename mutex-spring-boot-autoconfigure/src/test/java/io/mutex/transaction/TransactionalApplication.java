package io.mutex.transaction;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;

import io.mutex.MutexListener;
import io.mutex.autoconfigure.MutexAutoConfiguration;
import io.mutex.engine.LockEngine;
import io.mutex.run.Outcome;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.boot.transaction.autoconfigure.TransactionManagerCustomizationAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * An application whose locks and data are in one database, with a table of effects.
 */
final class TransactionalApplication implements AutoCloseable {

	private final String url;

	private final ConfigurableApplicationContext context;

	private TransactionalApplication(String url, ConfigurableApplicationContext context) {
		this.url = url;
		this.context = context;
	}

	static TransactionalApplication start(String url, Class<?> beans, String... properties) throws SQLException {
		execute(url, "CREATE TABLE IF NOT EXISTS effect (unit varchar(100), checked varchar(100))");
		Map<String, String> all = new LinkedHashMap<>();
		Stream
			.concat(Stream.of("spring.datasource.url=" + url, "spring.application.name=test", "mutex.provider=jdbc",
					"mutex.jdbc.initialize-schema=always", "spring.main.banner-mode=off",
					"spring.datasource.hikari.maximum-pool-size=5", "logging.level.root=warn",
					"mutex.single-run.lease=5s"), Stream.of(properties))
			.forEach((property) -> all.put(property.substring(0, property.indexOf('=')), property));
		SpringApplication application = new SpringApplicationBuilder(beans).sources(Infrastructure.class)
			.web(WebApplicationType.NONE)
			.registerShutdownHook(false)
			.build();
		return new TransactionalApplication(url,
				application.run(all.values().stream().map((property) -> "--" + property).toArray(String[]::new)));
	}

	<T> T bean(Class<T> type) {
		return this.context.getBean(type);
	}

	LockEngine engine() {
		return bean(LockEngine.class);
	}

	TransactionTemplate transaction(int isolation) {
		TransactionTemplate template = new TransactionTemplate(bean(PlatformTransactionManager.class));
		template.setIsolationLevel(isolation);
		return template;
	}

	TransactionTemplate transaction() {
		return transaction(TransactionDefinition.ISOLATION_READ_COMMITTED);
	}

	List<MutexListener.Run> runs() {
		return bean(Runs.class).runs;
	}

	List<Outcome> outcomes() {
		return runs().stream().map(MutexListener.Run::outcome).toList();
	}

	int effects() {
		return Integer.parseInt(query("SELECT COUNT(*) FROM effect"));
	}

	int records() {
		return Integer.parseInt(query("SELECT COUNT(*) FROM mutex_run WHERE status = 'D'"));
	}

	/** The status letters of all runs, by unit. */
	String statuses() {
		StringBuilder statuses = new StringBuilder();
		try (Connection connection = DriverManager.getConnection(this.url);
				Statement statement = connection.createStatement();
				ResultSet rows = statement.executeQuery("SELECT status FROM mutex_run ORDER BY unit")) {
			while (rows.next()) {
				statuses.append(rows.getString(1));
			}
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
		return statuses.toString();
	}

	/** How many keys are held, expired ones included. */
	int held() {
		return Integer.parseInt(query("SELECT COUNT(*) FROM mutex_lock WHERE expires_at > 0"));
	}

	String query(String sql) {
		try (Connection connection = DriverManager.getConnection(this.url);
				Statement statement = connection.createStatement();
				ResultSet rows = statement.executeQuery(sql)) {
			rows.next();
			return rows.getString(1);
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	void execute(String sql) throws SQLException {
		execute(this.url, sql);
	}

	static void execute(String url, String sql) throws SQLException {
		try (Connection connection = DriverManager.getConnection(url);
				Statement statement = connection.createStatement()) {
			statement.execute(sql);
		}
	}

	@Override
	public void close() {
		this.context.close();
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ DataSourceAutoConfiguration.class, DataSourceTransactionManagerAutoConfiguration.class,
			JdbcTemplateAutoConfiguration.class, TransactionAutoConfiguration.class,
			TransactionManagerCustomizationAutoConfiguration.class, MutexAutoConfiguration.class })
	static class Infrastructure {

		@Bean
		Runs runs() {
			return new Runs();
		}

	}

	static final class Runs implements MutexListener {

		final List<Run> runs = new CopyOnWriteArrayList<>();

		@Override
		public void run(Run run) {
			this.runs.add(run);
		}

	}

}
