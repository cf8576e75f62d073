package io.mutex.jdbc;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.Types;
import java.time.Duration;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

import io.mutex.AcquireRequest;
import io.mutex.Acquisition;
import io.mutex.LockProvider;
import io.mutex.LockProvider.Grant;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests of how times are stored, and of what two databases cannot do.
 */
class StoredTimesTests {

	@ParameterizedTest
	@EnumSource
	@DisplayName("C89 times are whole microseconds, which no column rounds")
	void timesAreWholeMicroseconds(JdbcPlatform platform) throws Exception {
		TestDatabase database = TestDatabase.shared(platform);
		Map<String, Integer> types = new HashMap<>();
		try (Connection connection = database.connect()) {
			DatabaseMetaData data = connection.getMetaData();
			for (String table : new String[] { "mutex_lock", "mutex_run", "MUTEX_LOCK", "MUTEX_RUN" }) {
				try (ResultSet columns = data.getColumns(connection.getCatalog(), connection.getSchema(), table, "%")) {
					while (columns.next()) {
						types.put(columns.getString("COLUMN_NAME").toLowerCase(Locale.ROOT),
								columns.getInt("DATA_TYPE"));
					}
				}
			}
		}
		assertThat(types).containsKeys("expires_at", "began_at", "kept_until");
		assertThat(types.values()).doesNotContain(Types.TIMESTAMP, Types.TIMESTAMP_WITH_TIMEZONE, Types.DATE,
				Types.TIME, Types.FLOAT, Types.DOUBLE, Types.REAL);
		Duration ttl = Duration.ofNanos(1_400_001_000);
		try (LockProvider provider = database.provider()) {
			Grant grant = Requests.take(provider, Requests.request(Requests.newKey(), null, ttl));
			assertThat(provider.lock(grant.key())).hasValueSatisfying(
					(lock) -> assertThat(Duration.between(lock.acquiredAt(), lock.expiresAt())).isEqualTo(ttl));
		}
	}

	@Test
	@DisplayName("C96 two databases are two stores: both grant, and each names its own holder")
	void twoDatabasesAreTwoStores() {
		String key = Requests.newKey();
		try (LockProvider here = TestDatabase.of(JdbcPlatform.H2).provider();
				LockProvider there = TestDatabase.of(JdbcPlatform.H2).provider()) {
			AcquireRequest one = Requests.request(key);
			AcquireRequest other = Requests.request(key);
			assertThat(here.acquire(one)).isInstanceOf(Acquisition.Granted.class);
			assertThat(there.acquire(other)).isInstanceOf(Acquisition.Granted.class);
			assertThat(here.lock(key)).hasValueSatisfying((lock) -> assertThat(lock.nonce()).isEqualTo(one.nonce()));
			assertThat(there.lock(key)).hasValueSatisfying((lock) -> assertThat(lock.nonce()).isEqualTo(other.nonce()));
		}
	}

}
