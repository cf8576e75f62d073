package io.mutex.http;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

import io.mutex.http.IdempotencyStore.Answer;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link MemoryIdempotencyStore}.
 */
class MemoryIdempotencyStoreTests {

	private static final Duration TTL = Duration.ofHours(1);

	private final AtomicLong time = new AtomicLong(Long.MAX_VALUE - 5);

	private final MemoryIdempotencyStore store = new MemoryIdempotencyStore(100_000, this.time::get);

	@Test
	void keyIsClaimedOnceAndThenAnswered() {
		assertThat(begin("key", "request", "a")).isInstanceOf(Answer.Claimed.class);
		assertThat(begin("key", "request", "b")).isInstanceOf(Answer.InProgress.class);
		assertThat(begin("key", "other", "b")).isInstanceOf(Answer.Different.class);
		assertThat(begin("another", "request", "b")).isInstanceOf(Answer.Claimed.class);
		StoredResponse response = response(10);
		this.store.complete("key", "a", response, TTL);
		assertThat(begin("key", "request", "b")).isEqualTo(new Answer.Completed(response));
		assertThat(begin("key", "other", "b")).isInstanceOf(Answer.Different.class);
	}

	@Test
	void abandonedKeyIsFree() {
		begin("key", "request", "a");
		this.store.abandon("key", "a");
		assertThat(begin("key", "other", "b")).isInstanceOf(Answer.Claimed.class);
	}

	@Test
	void claimThatIsOverChangesNothing() {
		begin("key", "request", "a");
		this.time.addAndGet(TTL.toNanos());
		assertThat(begin("key", "request", "b")).isInstanceOf(Answer.Claimed.class);
		this.store.abandon("key", "a");
		this.store.complete("key", "a", response(1), TTL);
		assertThat(begin("key", "request", "c")).isInstanceOf(Answer.InProgress.class);
	}

	@Test
	void answersAreForgottenInTime() {
		begin("key", "request", "a");
		this.store.complete("key", "a", response(1), TTL);
		this.time.addAndGet(TTL.toNanos() - 1);
		assertThat(begin("key", "request", "b")).isInstanceOf(Answer.Completed.class);
		this.time.addAndGet(1);
		begin("another", "request", "b");
		assertThat(this.store.size()).isEqualTo(1);
		assertThat(begin("key", "request", "b")).isInstanceOf(Answer.Claimed.class);
	}

	@Test
	void memoryIsBoundedAndWhatIsBeingProcessedIsKept() {
		begin("first", "request", "first");
		for (int i = 0; i < 100; i++) {
			begin("key-" + i, "request", "a");
			this.store.complete("key-" + i, "a", response(10_000), TTL);
		}
		assertThat(this.store.size()).isBetween(2, 10);
		assertThat(begin("first", "request", "b")).isInstanceOf(Answer.InProgress.class);
		assertThat(begin("key-99", "request", "b")).isInstanceOf(Answer.Completed.class);
		assertThat(begin("key-0", "request", "b")).isInstanceOf(Answer.Claimed.class);
	}

	private Answer begin(String key, String request, String claim) {
		return this.store.begin(key, request, claim, TTL);
	}

	private static StoredResponse response(int size) {
		return new StoredResponse(200, Map.of("Content-Type", List.of("text/plain")), new byte[size], true);
	}

}
