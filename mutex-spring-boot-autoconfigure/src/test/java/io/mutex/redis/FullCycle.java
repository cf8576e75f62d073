package io.mutex.redis;

import java.time.Duration;
import java.util.List;

import io.mutex.Acquisition.Done;
import io.mutex.Acquisition.Held;
import io.mutex.LockProvider;
import io.mutex.LockProvider.ForcedRelease;
import io.mutex.LockProvider.Grant;
import io.mutex.LockProvider.Renewal;
import io.mutex.LockProvider.Settlement;
import io.mutex.run.RunUnit;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Every operation once, on one key.
 */
final class FullCycle {

	private FullCycle() {
	}

	static void run(LockProvider provider, String key) {
		RunUnit unit = RunUnit.of("u");
		Grant first = Requests.take(provider, Requests.of(key, unit));
		assertThat(provider.acquire(Requests.of(key, unit))).isInstanceOf(Held.class);
		assertThat(provider.locks(1000)).anyMatch((lock) -> lock.key().equals(key));
		assertThat(provider.renew(List.of(first))).containsExactly(Renewal.RENEWED);
		assertThat(provider.fail(first, "u", "broken", Duration.ZERO)).isEqualTo(Settlement.SETTLED);
		Grant second = Requests.take(provider, Requests.of(key, unit));
		assertThat(second.token()).isGreaterThan(first.token());
		assertThat(provider.release(key, first.nonce(), true)).isEqualTo(Settlement.NOT_OWNER);
		assertThat(provider.complete(second, "u")).isEqualTo(Settlement.SETTLED);
		assertThat(provider.acquire(Requests.of(key, unit))).isInstanceOf(Done.class);
		assertThat(provider.runs(key, 10)).hasSize(1);
		Grant third = Requests.take(provider, key);
		assertThat(provider.forceRelease(key).result()).isEqualTo(ForcedRelease.Result.RELEASED);
		assertThat(provider.renew(List.of(third))).containsExactly(Renewal.LOST);
		assertThat(provider.lock(key)).isEmpty();
		runTogether(provider, key);
	}

	private static void runTogether(LockProvider provider, String key) {
		String waiter = Requests.newNonce();
		Grant first = Requests.take(provider, Requests.of(key, 2, null));
		Grant second = Requests.take(provider, Requests.of(key, 2, null));
		assertThat(provider.acquire(Requests.of(key, 2, waiter))).isInstanceOf(Held.class);
		assertThat(provider.locks(1000).stream().filter((lock) -> lock.key().equals(key))).hasSize(2);
		assertThat(provider.renew(List.of(first, second))).containsOnly(Renewal.RENEWED);
		assertThat(provider.release(key, first.nonce(), true)).isEqualTo(Settlement.SETTLED);
		assertThat(provider.acquire(Requests.of(key, 2, null))).isInstanceOf(Held.class);
		Grant next = Requests.take(provider, Requests.of(key, 2, waiter));
		assertThat(provider.forceRelease(key).result()).isEqualTo(ForcedRelease.Result.RELEASED);
		assertThat(provider.renew(List.of(second, next))).containsOnly(Renewal.LOST);
		Grant alone = Requests.take(provider, key);
		assertThat(provider.release(key, alone.nonce(), true)).isEqualTo(Settlement.SETTLED);
		assertThat(provider.lock(key)).isEmpty();
	}

}
