package io.mutex;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What several threads have asked and been answered, and the check of it. Times are of
 * {@link System#nanoTime()}, around each call.
 */
final class History {

	private final ConcurrentLinkedQueue<Grant> grants = new ConcurrentLinkedQueue<>();

	private final ConcurrentLinkedQueue<Success> successes = new ConcurrentLinkedQueue<>();

	void granted(String key, @Nullable String unit, long first, long token, long asked, long answered) {
		this.grants.add(new Grant(key, unit, first, token, asked, answered));
	}

	void succeeded(String key, String unit, long answered) {
		this.successes.add(new Success(key, unit, answered));
	}

	int grants() {
		return this.grants.size();
	}

	int successes() {
		return this.successes.size();
	}

	void check() {
		Set<String> keys = this.grants.stream().map(Grant::key).collect(Collectors.toSet());
		for (String key : keys) {
			checkTokens(this.grants.stream().filter((grant) -> grant.key().equals(key)).toList());
		}
		assertThat(this.successes.stream().map((success) -> success.key() + " " + success.unit()))
			.as("one success for each unit")
			.doesNotHaveDuplicates();
		for (Success success : this.successes) {
			assertThat(this.grants).as("grants of %s after its success", success)
				.noneMatch((grant) -> grant.key().equals(success.key()) && success.unit().equals(grant.unit())
						&& grant.asked() > success.answered());
		}
	}

	private static void checkTokens(List<Grant> grants) {
		List<Grant> byToken = new ArrayList<>(grants);
		byToken.sort(Comparator.comparingLong(Grant::first));
		long highest = 0;
		for (Grant grant : byToken) {
			assertThat(grant.first()).as("tokens are unique: %s", grant).isGreaterThan(highest);
			highest = grant.token();
		}
		List<Grant> byRequest = new ArrayList<>(grants);
		byRequest.sort(Comparator.comparingLong(Grant::asked));
		PriorityQueue<Grant> underWay = new PriorityQueue<>(Comparator.comparingLong(Grant::answered));
		long answered = 0;
		for (Grant grant : byRequest) {
			while (!underWay.isEmpty() && underWay.element().answered() < grant.asked()) {
				answered = Math.max(answered, underWay.remove().token());
			}
			assertThat(grant.first()).as("tokens rise in the order of the grants: %s", grant).isGreaterThan(answered);
			underWay.add(grant);
		}
	}

	private record Grant(String key, @Nullable String unit, long first, long token, long asked, long answered) {

	}

	private record Success(String key, String unit, long answered) {

	}

}
