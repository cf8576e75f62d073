package io.mutex.redis;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import io.mutex.Acquisition.Held;
import io.mutex.LockProvider.Grant;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A thread that listens for the keys whose next holder it is.
 */
final class ReleaseListener {

	private final String waiter = Requests.newNonce();

	private final BlockingQueue<String> reports = new LinkedBlockingQueue<>();

	private final RedisLockProvider provider;

	private CompletableFuture<Boolean> answer = new CompletableFuture<>();

	private final Consumer<String> released;

	ReleaseListener(RedisLockProvider provider) {
		this.provider = provider;
		this.released = this.reports::add;
	}

	ReleaseListener(RedisLockProvider provider, Consumer<String> released) {
		this.provider = provider;
		this.released = released;
	}

	Thread start() {
		CompletableFuture<Boolean> answer = new CompletableFuture<>();
		Thread thread = new Thread(() -> {
			try {
				answer.complete(this.provider.listen(this.waiter, this.released));
			}
			catch (Throwable ex) {
				answer.completeExceptionally(ex);
			}
		});
		this.answer = answer;
		thread.setDaemon(true);
		thread.start();
		return thread;
	}

	boolean hasEnded() {
		return this.answer.isDone();
	}

	boolean answer() throws Exception {
		return this.answer.get(1, TimeUnit.MINUTES);
	}

	String waiter() {
		return this.waiter;
	}

	BlockingQueue<String> reports() {
		return this.reports;
	}

	/**
	 * Takes the place of the next holder of a key that is held.
	 * @param grant the grant of its holder
	 * @return the same grant
	 */
	Grant waitFor(Grant grant) {
		assertThat(this.provider.acquire(Requests.of(grant.key(), 1, this.waiter))).isInstanceOf(Held.class);
		return grant;
	}

	void assertReported(String key) throws InterruptedException {
		assertThat(this.reports.poll(1, TimeUnit.MINUTES)).isEqualTo(key);
	}

}
