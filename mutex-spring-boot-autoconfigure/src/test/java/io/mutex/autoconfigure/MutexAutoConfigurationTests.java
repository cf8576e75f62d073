package io.mutex.autoconfigure;

import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.util.List;
import java.util.Optional;

import javax.sql.DataSource;

import io.mutex.LockProvider;
import io.mutex.LockRequest;
import io.mutex.MutexException;
import io.mutex.MutexTemplate;
import io.mutex.StoreSetupException;
import io.mutex.annotation.CatchUp;
import io.mutex.annotation.SingleRun;
import io.mutex.engine.LockEngine;
import io.mutex.engine.UnlockedTemplate;
import io.mutex.jdbc.JdbcLockProvider;
import io.mutex.memory.MemoryLockProvider;
import io.mutex.redis.RedisLockProvider;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.properties.ConfigurationPropertiesBindException;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.util.ClassUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The choice of the store, and what the context holds for each.
 */
@Tag("compatibility")
@ExtendWith(OutputCaptureExtension.class)
class MutexAutoConfigurationTests {

	@TempDir
	Path directory;

	private ApplicationContextRunner runner() {
		return new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(MutexAutoConfiguration.class, DataSourceAutoConfiguration.class,
					DataRedisAutoConfiguration.class))
			.withPropertyValues("spring.application.name=test", "mutex.file.directory=" + this.directory);
	}

	private ApplicationContextRunner bare() {
		return new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(MutexAutoConfiguration.class))
			.withPropertyValues("spring.application.name=test", "mutex.file.directory=" + this.directory);
	}

	@Test
	void fallsBackToFilesOfThisHostAndSaysSo(CapturedOutput output) {
		bare().withUserConfiguration(Job.class).run((context) -> {
			assertThat(context.getBean(LockProvider.class).name()).isEqualTo("file");
			assertThat(output).contains("protect the processes of this host that share the directory, and no others");
		});
	}

	@Test
	void takesTheOneDatabase() {
		bare().withUserConfiguration(Job.class, Database.class)
			.run((context) -> assertThat(context).getBean(LockProvider.class).isInstanceOf(JdbcLockProvider.class));
	}

	@Test
	void takesTheOneRedis() {
		bare().withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class))
			.run((context) -> assertThat(context).getBean(LockProvider.class).isInstanceOf(RedisLockProvider.class));
	}

	@Test
	void warnsOfAnswersOfRedisThatOutlastALease(CapturedOutput output) {
		ApplicationContextRunner redis = bare()
			.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class));
		redis.withPropertyValues("spring.data.redis.timeout=15s")
			.run((context) -> assertThat(context).getBean(LockProvider.class).isNotNull());
		assertThat(output).doesNotContain("spring.data.redis.timeout");
		redis.run((context) -> assertThat(context).getBean(LockProvider.class).isNotNull());
		assertThat(output).contains("set spring.data.redis.timeout to at most PT15S");
	}

	@Test
	void refusesTwoStoresWithoutAChoiceAndPrintsBoth() {
		runner().withUserConfiguration(Job.class, ServerDatabase.class).run((context) -> {
			assertThat(context).hasFailed();
			assertThat(context.getStartupFailure()).rootCause()
				.isInstanceOf(StoreSetupException.class)
				.hasMessageContaining("mutex.provider=jdbc")
				.hasMessageContaining("mutex.provider=redis");
		});
	}

	@Test
	void letsTwoStoresBeWhereNothingIsLocked() {
		runner().withUserConfiguration(ServerDatabase.class).run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void doesNotCountAnInMemoryDatabaseBesideRedis() {
		runner().withUserConfiguration(Database.class)
			.run((context) -> assertThat(context).getBean(LockProvider.class).isInstanceOf(RedisLockProvider.class));
	}

	@ParameterizedTest
	@ValueSource(strings = { "file", "memory", "jdbc", "redis" })
	void takesTheConfiguredOne(String provider) {
		runner().withUserConfiguration(Database.class)
			.withPropertyValues("mutex.provider=" + provider)
			.run((context) -> assertThat(context.getBean(LockProvider.class).name()).isEqualTo(provider));
	}

	@Test
	void listsTheProvidersWhenTheConfiguredOneIsUnknown() {
		bare().withPropertyValues("mutex.provider=zookeeper")
			.run((context) -> assertThat(context.getStartupFailure()).rootCause().hasMessageContaining("zookeeper"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "jdbc", "redis" })
	void saysWhatIsMissingForTheConfiguredOne(String provider) {
		bare().withUserConfiguration(Job.class)
			.withPropertyValues("mutex.provider=" + provider)
			.run((context) -> assertThat(context.getStartupFailure()).rootCause()
				.isInstanceOf(StoreSetupException.class)
				.hasMessageContaining("mutex.provider is '" + provider + "'")
				.hasMessageContaining("Add spring-boot-starter-"));
	}

	@Test
	void backsOffForAProviderOfTheUser() {
		runner().withUserConfiguration(Job.class, ServerDatabase.class, OwnProvider.class).run((context) -> {
			assertThat(context).getBean(LockProvider.class).isInstanceOf(MemoryLockProvider.class);
			assertThat(context).hasSingleBean(LockEngine.class);
		});
	}

	@Test
	@DisplayName("C135 a primary provider decides, and two equal ones are a start-up failure that lists them")
	void takesThePrimaryOfTwoProvidersOfTheUser() {
		bare().withUserConfiguration(Job.class, OwnProvider.class, PrimaryProvider.class)
			.run((context) -> assertThat(context).hasNotFailed()
				.getBean(LockProvider.class)
				.isSameAs(context.getBean("primaryProvider")));
		bare().withUserConfiguration(Job.class, OwnProvider.class, OtherProvider.class)
			.run((context) -> assertThat(context.getStartupFailure()).hasStackTraceContaining("ownProvider")
				.hasStackTraceContaining("otherProvider"));
	}

	@Test
	void catchesUpOnlyWithRecordsThatItKnows() {
		bare().withUserConfiguration(MissedJob.class)
			.withBean(MutexTemplate.class, UnlockedTemplate::new)
			.withBean(LockProvider.class, () -> {
				throw new IllegalStateException("nobody asks for it");
			}, (definition) -> definition.setLazyInit(true))
			.run((context) -> assertThat(context).hasNotFailed());
		bare().withUserConfiguration(MissedJob.class)
			.withPropertyValues("mutex.single-run.catch-up=default")
			.run((context) -> assertThat(context).getFailure().rootCause().hasMessageContaining("none or last"));
	}

	@Test
	void backsOffForATemplateOfTheUser() {
		bare().withBean(MutexTemplate.class, UnlockedTemplate::new)
			.run((context) -> assertThat(context).doesNotHaveBean(LockEngine.class));
	}

	@Test
	@DisplayName("C136 of several data sources, the marked one keeps the locks, else the primary one")
	void takesTheMarkedDataSource() {
		bare().withUserConfiguration(Job.class, MarkedOfTwo.class).run((context) -> {
			context.getBean(MutexTemplate.class).execute(LockRequest.of("k"), (lease) -> "done");
			assertThat(tables(context.getBean("orders", DataSource.class))).isPositive();
			assertThat(tables(context.getBean("reporting", DataSource.class))).isZero();
		});
	}

	@Test
	@DisplayName("C136 several data sources without a mark or a primary one are a start-up failure that says how to mark")
	void refusesSeveralEqualDataSources() {
		bare().withUserConfiguration(Job.class, TwoDatabases.class)
			.run((context) -> assertThat(context.getStartupFailure()).hasStackTraceContaining("@MutexDataSource"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "jdbc", "redis" })
	void needsANamespaceInASharedStore(String provider) {
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(MutexAutoConfiguration.class, DataRedisAutoConfiguration.class))
			.withUserConfiguration(Job.class, Database.class)
			.withPropertyValues("mutex.provider=" + provider)
			.run((context) -> assertThat(context.getStartupFailure()).rootCause()
				.hasMessageContaining("spring.application.name")
				.hasMessageContaining("mutex.namespace"));
	}

	@Test
	void warnsOfAMissingNamespaceOnFiles(CapturedOutput output) {
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(MutexAutoConfiguration.class))
			.withUserConfiguration(Job.class)
			.withPropertyValues("mutex.file.directory=" + this.directory)
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).contains("Neither mutex.namespace nor spring.application.name is set");
	}

	@Test
	@DisplayName("C117 on a cloud platform, files are used only where that is configured")
	void refusesToFallBackToFilesOnACloudPlatform() {
		ApplicationContextRunner cloud = bare().withUserConfiguration(Job.class)
			.withPropertyValues("spring.main.cloud-platform=kubernetes");
		cloud.run((context) -> assertThat(context.getStartupFailure()).rootCause()
			.hasMessageContaining("KUBERNETES")
			.hasMessageContaining("mutex.provider=file"));
		cloud.withPropertyValues("mutex.provider=file").run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void warnsOfAnInMemoryDatabase(CapturedOutput output) {
		bare().withUserConfiguration(Job.class, Database.class).run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).contains("in-memory database").contains("protect nothing from another instance");
	}

	@Test
	void locksNothingWhenSwitchedOff() {
		runner().withUserConfiguration(Job.class, ServerDatabase.class)
			.withPropertyValues("mutex.enabled=false")
			.run((context) -> {
				assertThat(context).hasNotFailed().doesNotHaveBean(LockProvider.class);
				assertThat(context.getBean(Job.class).run()).contains("ran");
				assertThat(context.getBean(Job.class).run()).contains("ran");
			});
	}

	@Test
	void recordsNothingWhenRecordsAreSwitchedOff() {
		bare().withUserConfiguration(Job.class)
			.withPropertyValues("mutex.provider=memory", "mutex.single-run.records=false")
			.run((context) -> {
				assertThat(context.getBean(Job.class).run()).contains("ran");
				assertThat(context.getBean(Job.class).run()).contains("ran");
			});
	}

	@Test
	void runsOnceAPeriod() {
		bare().withUserConfiguration(Job.class).withPropertyValues("mutex.provider=memory").run((context) -> {
			assertThat(context.getBean(Job.class).run()).contains("ran");
			assertThat(context.getBean(Job.class).run()).isEmpty();
		});
	}

	@Test
	void doesNotStartWithAMissingTableAndPrintsIt() {
		bare().withUserConfiguration(Job.class, Database.class)
			.withPropertyValues("mutex.jdbc.initialize-schema=never")
			.run((context) -> assertThat(context.getStartupFailure()).cause()
				.isInstanceOfSatisfying(StoreSetupException.class,
						(failure) -> assertThat(failure.getRemedy()).containsIgnoringCase("create table")
							.contains("mutex.jdbc.initialize-schema=always")));
	}

	@Test
	@DisplayName("C118 an unusable lock directory is a start-up failure if files are used, and nothing is created if not")
	void looksAtTheDirectoryOnlyWhereFilesAreUsed() throws IOException {
		Path file = this.directory.resolve("file");
		file.toFile().createNewFile();
		bare().withUserConfiguration(Job.class)
			.withPropertyValues("mutex.file.directory=" + file.resolve("locks"))
			.run((context) -> assertThat(context.getStartupFailure()).cause()
				.isInstanceOf(StoreSetupException.class)
				.hasMessageContaining("mutex.file.directory")
				.hasMessageContaining(file.toString()));
		Path unused = this.directory.resolve("unused");
		bare().withUserConfiguration(Job.class, Database.class)
			.withPropertyValues("mutex.file.directory=" + unused)
			.run((context) -> assertThat(unused).doesNotExist());
	}

	@ParameterizedTest
	@CsvSource({ "mutex.jdbc.table-prefix, a.b", "mutex.jdbc.schema, a b", "mutex.redis.key-prefix, a b",
			"mutex.single-run.retention, 1m", "mutex.single-run.lease, 0s" })
	void refusesAPropertyThatCannotBeUsedAndNamesIt(String property, String value) {
		bare().withUserConfiguration(Job.class)
			.withPropertyValues(property + "=" + value)
			.run((context) -> assertThat(context.getStartupFailure())
				.hasCauseInstanceOf(ConfigurationPropertiesBindException.class)
				.rootCause()
				.hasMessageContaining(property));
	}

	@Test
	void startsWithAStoreThatCannotBeReachedAndRunsNoBody(CapturedOutput output) {
		bare().withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class))
			.withUserConfiguration(Job.class)
			.withPropertyValues("spring.data.redis.port=1", "spring.data.redis.connect-timeout=500ms")
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(output).contains("The redis store of the locks cannot be reached");
				Job job = context.getBean(Job.class);
				assertThatExceptionOfType(MutexException.class).isThrownBy(job::run);
				assertThat(job.runs).isZero();
			});
	}

	@ParameterizedTest
	@ValueSource(strings = { "mutex.single-run.lease=0s", "mutex.single-run.lease=-1s", "mutex.single-run.lease=500us",
			"mutex.fenced.lease=999ms", "mutex.fenced.max-hold=0s", "mutex.fenced.wait-for=-1s",
			"mutex.wait.min-poll=0s", "mutex.wait.max-poll=1ms", "mutex.jdbc.pool-size=-1",
			"mutex.single-run.lease=14x", "mutex.zone=Mars/Olympus" })
	@DisplayName("C109 C138 a value that cannot work is a start-up failure that names the property")
	void refusesBadValues(String property) {
		bare().withPropertyValues(property)
			.run((context) -> assertThat(context.getStartupFailure())
				.hasStackTraceContaining(property.substring(property.indexOf('.') + 1, property.indexOf('='))));
	}

	@Test
	void refusesADrainTimeoutThatShutdownDoesNotGrant() {
		bare().withPropertyValues("spring.lifecycle.timeout-per-shutdown-phase=10s", "mutex.shutdown.drain-timeout=9s")
			.run((context) -> assertThat(context.getStartupFailure()).rootCause()
				.hasMessageContaining("mutex.shutdown.drain-timeout")
				.hasMessageContaining("PT8S"));
	}

	@Test
	void ordersItselfBehindAutoConfigurationsThatExist() {
		AutoConfiguration annotation = AnnotatedElementUtils.findMergedAnnotation(MutexAutoConfiguration.class,
				AutoConfiguration.class);
		assertThat(annotation).isNotNull();
		assertThat(List.of(annotation.afterName())).isNotEmpty()
			.allSatisfy((name) -> assertThat(ClassUtils.isPresent(name, null)).as(name).isTrue());
	}

	private static int tables(DataSource dataSource) throws Exception {
		try (Connection connection = dataSource.getConnection();
				ResultSet tables = connection.getMetaData().getTables(null, null, "MUTEX_%", null)) {
			int count = 0;
			while (tables.next()) {
				count++;
			}
			return count;
		}
	}

	private static DataSource h2(String name) {
		JdbcDataSource dataSource = new JdbcDataSource();
		dataSource.setURL("jdbc:h2:mem:" + name + System.nanoTime() + ";DB_CLOSE_DELAY=-1");
		return dataSource;
	}

	static class MissedJob {

		@Scheduled(cron = "0 0 0 1 1 *")
		@SingleRun(key = "missed", catchUp = CatchUp.LAST)
		public void run() {
		}

	}

	static class Job {

		int runs;

		@SingleRun(key = "job", per = "day")
		public Optional<String> run() {
			this.runs++;
			return Optional.of("ran");
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Database {

		@Bean
		DataSource dataSource() {
			return h2("auto");
		}

	}

	/**
	 * A database that is not in memory: nothing connects to it.
	 */
	@Configuration(proxyBeanMethods = false)
	static class ServerDatabase {

		@Bean
		DataSource dataSource() {
			PGSimpleDataSource dataSource = new PGSimpleDataSource();
			dataSource.setPortNumbers(new int[] { 1 });
			return dataSource;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class TwoDatabases {

		@Bean
		DataSource orders() {
			return h2("orders");
		}

		@Bean
		DataSource reporting() {
			return h2("reporting");
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class MarkedOfTwo {

		@Bean
		@MutexDataSource
		DataSource orders() {
			return h2("orders");
		}

		@Bean
		@Primary
		DataSource reporting() {
			return h2("reporting");
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OwnProvider {

		@Bean
		LockProvider ownProvider() {
			return new MemoryLockProvider();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OtherProvider {

		@Bean
		LockProvider otherProvider() {
			return new MemoryLockProvider();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class PrimaryProvider {

		@Bean
		@Primary
		LockProvider primaryProvider() {
			return new MemoryLockProvider();
		}

	}

}
