package io.mutex.transaction;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link SqlText}.
 */
class SqlTextTests {

	@ParameterizedTest
	@ValueSource(strings = { "SELECT 1", "  select last_update, updated from t", "(SELECT 1) UNION (SELECT 2)",
			"-- a comment\n select 1", "/* SELECT */ VALUES (1)", "WITH a AS (SELECT 1) SELECT * FROM a",
			"SHOW VARIABLES", "EXPLAIN SELECT 1", "SELECT 1;", "TABLE t", "SELECT replace(a, 'x', 'y') FROM t" })
	void readsAreKnown(String sql) {
		assertThat(SqlText.reads(sql)).isTrue();
		assertThat(SqlText.controlsTransactions(sql)).isFalse();
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "INSERT INTO t VALUES (1)", "update t set a = 1", "{call p()}", "{? = call p()}",
			"WITH a AS (DELETE FROM t RETURNING id) SELECT * FROM a", "EXPLAIN ANALYZE DELETE FROM t",
			"SELECT * INTO copy FROM t", "SELECT 1; DROP TABLE t", "SELECT * FROM t FOR UPDATE",
			"/*!50000 INSERT INTO t */ SELECT 1", "/* unclosed SELECT", "SELECT 'insert'", "DO $$ x $$",
			"MERGE INTO t USING s", "COPY t FROM stdin", "SET x = 1", "LOCK TABLE t", "TRUNCATE t" })
	void whateverElseThereIsWrites(String sql) {
		assertThat(SqlText.reads(sql)).isFalse();
	}

	@ParameterizedTest
	@ValueSource(strings = { "BEGIN", "begin transaction", " START TRANSACTION", "COMMIT", "/* x */ end",
			"SET autocommit = 0", "set session AUTOCOMMIT=1", "XA START 'a'" })
	void statementsThatBeginOrCommitTransactionsAreKnown(String sql) {
		assertThat(SqlText.controlsTransactions(sql)).isTrue();
	}

}
