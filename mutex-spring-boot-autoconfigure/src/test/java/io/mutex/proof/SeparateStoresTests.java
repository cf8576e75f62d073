package io.mutex.proof;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.mutex.FencingPolicy;
import io.mutex.StaleFencingTokenException;
import io.mutex.proof.GuardedWorker.Observer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Two sites that take the same lock in databases of their own, which know nothing of each
 * other, and write to one database.
 */
class SeparateStoresTests {

	private static final String NAMESPACE = "proof";

	private static final String KEY = "account";

	@TempDir
	Path directory;

	private String locksOfOne;

	private GuardedWorker one;

	private GuardedWorker other;

	@BeforeEach
	void open() {
		this.locksOfOne = Store.H2.prepare(this.directory.resolve("one"));
		String locksOfOther = Store.H2.prepare(this.directory.resolve("other"));
		String data = Store.H2.prepare(this.directory.resolve("data"));
		SqlLedger.prepare(data, List.of(KEY));
		this.one = open(this.locksOfOne, data, "one");
		this.other = open(locksOfOther, data, "other");
	}

	private static GuardedWorker open(String locks, String data, String instance) {
		return new GuardedWorker(
				Guarding.openTable(Store.H2.open(locks, NAMESPACE), Guarding.dataSource(data), NAMESPACE), instance,
				Duration.ofMinutes(1));
	}

	@AfterEach
	void close() {
		this.one.close();
		this.other.close();
	}

	@Test
	@DisplayName("C96 of two holders by two stores that are not one, the later is accepted and the earlier refused")
	void laterHolderIsAccepted() {
		assertThatExceptionOfType(StaleFencingTokenException.class).isThrownBy(this::addWhileTheOtherDoes);
		assertAcceptedIsOfTheOther();
	}

	@Test
	@DisplayName("C96 a store whose tokens are lower is asked for one above that of the guard")
	void lowerTokenIsRaised() throws SQLException {
		add(this.one);
		try (Connection connection = DriverManager.getConnection(this.locksOfOne);
				Statement statement = connection.createStatement()) {
			assertThat(statement
				.executeUpdate("UPDATE mutex_lock SET token = token + " + Duration.ofHours(1).toNanos() / 1000))
				.isOne();
		}
		assertThatExceptionOfType(StaleFencingTokenException.class).isThrownBy(this::addWhileTheOtherDoes);
		assertAcceptedIsOfTheOther();
	}

	private void addWhileTheOtherDoes() {
		this.one.add(KEY, Duration.ZERO, FencingPolicy.STRICT, (lease, place) -> {
			if (place == Place.AFTER_READ) {
				CompletableFuture.runAsync(() -> add(this.other)).join();
			}
		});
	}

	private static void add(GuardedWorker worker) {
		worker.add(KEY, Duration.ZERO, FencingPolicy.STRICT, Observer.NOBODY);
	}

	private void assertAcceptedIsOfTheOther() {
		History history = new History(this.one.ledger().lines(KEY));
		assertThat(history.lost()).isZero();
		assertThat(history.stale()).isZero();
		add(this.other);
		assertThat(this.other.ledger().lines(KEY)).hasSize((int) history.last() + 1);
	}

}
