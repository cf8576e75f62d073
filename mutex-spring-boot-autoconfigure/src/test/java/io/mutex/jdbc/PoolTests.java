package io.mutex.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Test;
import org.mariadb.jdbc.ServerPreparedStatement;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link Pool}.
 */
class PoolTests {

	private static final String PREPARE = "useServerPrepStmts";

	@Test
	void ownConnectionsPrepareOnTheServerAndThoseOfTheApplicationAsTheyDid() throws Exception {
		String url = TestDatabase.shared(JdbcPlatform.MARIADB).url().replace(PREPARE + "=true", "");
		try (HikariDataSource application = new HikariDataSource()) {
			application.setJdbcUrl(url);
			try (Pool own = Pool.of(application, JdbcSettings.defaults())) {
				assertThat(isPreparedOnTheServer(own.connect())).isTrue();
				assertThat(isPreparedOnTheServer(application.getConnection())).isFalse();
				assertThat(application.getDataSourceProperties()).isEmpty();
			}
		}
	}

	@Test
	void applicationThatSaysWhereToPrepareIsObeyed() throws Exception {
		String url = TestDatabase.shared(JdbcPlatform.MARIADB).url().replace(PREPARE + "=true", "");
		try (HikariDataSource application = new HikariDataSource()) {
			application.setJdbcUrl(url);
			application.addDataSourceProperty(PREPARE, "false");
			try (Pool own = Pool.of(application, JdbcSettings.defaults())) {
				assertThat(isPreparedOnTheServer(own.connect())).isFalse();
				assertThat(application.getDataSourceProperties()).containsEntry(PREPARE, "false");
			}
		}
	}

	private static boolean isPreparedOnTheServer(Connection lent) throws Exception {
		try (Connection connection = lent; PreparedStatement statement = connection.prepareStatement("SELECT 1")) {
			return statement.isWrapperFor(ServerPreparedStatement.class);
		}
	}

}
