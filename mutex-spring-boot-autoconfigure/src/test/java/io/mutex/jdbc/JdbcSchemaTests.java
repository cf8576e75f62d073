package io.mutex.jdbc;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

import io.mutex.LockProvider;
import io.mutex.LockProvider.Grant;
import io.mutex.LockProvider.Settlement;
import io.mutex.StoreSetupException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * The tables: made, missing, elsewhere, unfit.
 */
class JdbcSchemaTests {

	@ParameterizedTest
	@EnumSource
	void tablesAreMadeOnceAndLeftAloneAfterwards(JdbcPlatform platform) throws SQLException {
		TestDatabase database = TestDatabase.of(platform);
		try (LockProvider provider = database.provider()) {
			Grant grant = Requests.take(provider, Requests.newKey());
			JdbcSchema.create(database.dataSource(), JdbcSettings.defaults());
			provider.check();
			assertThat(provider.lock(grant.key())).isPresent();
		}
	}

	@ParameterizedTest
	@EnumSource
	@DisplayName("C93 a table that comes later is used without a restart")
	void tableThatComesLaterIsUsed(JdbcPlatform platform) {
		TestDatabase database = TestDatabase.empty(platform);
		try (LockProvider provider = database.provider()) {
			String key = Requests.newKey();
			for (int i = 0; i < 2; i++) {
				assertThatExceptionOfType(MissingTableException.class)
					.isThrownBy(() -> provider.acquire(Requests.request(key)));
			}
			assertThatExceptionOfType(MissingTableException.class).isThrownBy(provider::check).satisfies((ex) -> {
				assertThat(ex.getTable()).startsWith("mutex_");
				assertThat(ex).hasMessageContaining("mutex.jdbc.initialize-schema=always");
				assertThat(ex.getDdl()).isEqualTo(JdbcSchema.ddl(platform, JdbcSettings.defaults()));
			});
			JdbcSchema.create(database.dataSource(), JdbcSettings.defaults());
			provider.check();
			Requests.take(provider, Requests.request(key));
		}
	}

	@ParameterizedTest
	@EnumSource(names = { "H2", "POSTGRESQL" })
	@DisplayName("C92 tables in a schema of their own are found there and nowhere else")
	void tablesInASchemaOfTheirOwn(JdbcPlatform platform) throws SQLException {
		TestDatabase database = TestDatabase.of(platform);
		database.execute("CREATE SCHEMA ops");
		JdbcSettings settings = JdbcSettings.defaults().withSchema("ops").withTablePrefix("App_");
		try (LockProvider provider = TestDatabase.provider(database.dataSource(), settings)) {
			assertThatExceptionOfType(MissingTableException.class).isThrownBy(provider::check)
				.withMessageContaining("ops.App_")
				.satisfies((ex) -> assertThat(ex.getDdl()).contains("CREATE TABLE IF NOT EXISTS ops.App_lock"));
			JdbcSchema.create(database.dataSource(), settings);
			provider.check();
			Requests.take(provider, Requests.newKey());
			assertThat(database.query("SELECT COUNT(*) FROM ops.App_lock")).isEqualTo("1");
			assertThat(database.query("SELECT COUNT(*) FROM mutex_lock")).isEqualTo("0");
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "ops.app_", "x; DROP TABLE y; --", "a b", "1_", "a\"b" })
	@DisplayName("C92 a name with more than letters, digits and underscores is refused")
	void nameWithSqlInItIsRefused(String name) {
		JdbcSettings settings = JdbcSettings.defaults();
		assertThatIllegalArgumentException().isThrownBy(() -> settings.withTablePrefix(name))
			.withMessageContaining("mutex.jdbc.table-prefix");
		assertThatIllegalArgumentException().isThrownBy(() -> settings.withSchema(name))
			.withMessageContaining("mutex.jdbc.schema");
	}

	@ParameterizedTest
	@ValueSource(strings = { "PostgreSQL", "MySQL", "MariaDB", "Oracle", "MSSQLServer", "DB2", "Derby", "HSQLDB" })
	@DisplayName("C90 C91 no name is reserved in any mode of H2, and an empty text may be null")
	void everyModeOfH2(String mode) {
		TestDatabase database = TestDatabase.h2(";MODE=" + mode);
		JdbcSchema.create(database.dataSource(), JdbcSettings.defaults());
		try (LockProvider provider = database.provider()) {
			provider.check();
			Grant grant = Requests.take(provider, Requests.request(Requests.newKey(), "u"));
			assertThat(provider.release(grant.key(), "f".repeat(32), true)).isEqualTo(Settlement.NOT_OWNER);
			assertThat(provider.complete(grant, "u")).isEqualTo(Settlement.SETTLED);
			assertThat(provider.runs(grant.key(), 1)).hasSize(1);
		}
	}

	@Test
	void h2ThatIgnoresCaseIsRefused() {
		TestDatabase database = TestDatabase.h2(";IGNORECASE=TRUE");
		JdbcSchema.create(database.dataSource(), JdbcSettings.defaults());
		try (LockProvider provider = database.provider()) {
			assertThatExceptionOfType(StoreSetupException.class).isThrownBy(provider::check)
				.withMessageContaining("IGNORECASE");
		}
	}

	@Test
	void mariaDbThatAssignsSimultaneouslyIsRefused() {
		TestDatabase database = TestDatabase.shared(JdbcPlatform.MARIADB)
			.with("sessionVariables=sql_mode='SIMULTANEOUS_ASSIGNMENT'");
		try (LockProvider provider = database.provider()) {
			assertThatExceptionOfType(StoreSetupException.class).isThrownBy(provider::check)
				.withMessageContaining("SIMULTANEOUS_ASSIGNMENT");
		}
	}

	@Test
	void userWithoutRightsIsToldWhichToGive() throws SQLException {
		TestDatabase database = TestDatabase.of(JdbcPlatform.POSTGRESQL);
		String user = "reader_" + database.query("SELECT current_database()");
		database.execute("CREATE ROLE " + user + " LOGIN PASSWORD 'x'");
		TestDatabase asReader = TestDatabase.at(database.url().replace("user=postgres", "user=" + user));
		try (LockProvider provider = asReader.provider()) {
			assertThatExceptionOfType(StoreSetupException.class)
				.isThrownBy(() -> provider.acquire(Requests.request(Requests.newKey())))
				.withMessageContaining("Give the database user")
				.withMessageContaining("mutex_lock");
			assertThatExceptionOfType(StoreSetupException.class).isThrownBy(provider::check);
		}
	}

	@Test
	void instancesThatStartTogetherMakeTheTablesTogether() throws Exception {
		TestDatabase database = TestDatabase.empty(JdbcPlatform.POSTGRESQL);
		List<Thread> threads = new ArrayList<>();
		List<Throwable> failures = new ArrayList<>();
		for (int i = 0; i < 4; i++) {
			Thread thread = new Thread(() -> JdbcSchema.create(database.dataSource(), JdbcSettings.defaults()));
			thread.setUncaughtExceptionHandler((failed, ex) -> {
				synchronized (failures) {
					failures.add(ex);
				}
			});
			threads.add(thread);
			thread.start();
		}
		for (Thread thread : threads) {
			thread.join();
		}
		assertThat(failures).isEmpty();
	}

}
