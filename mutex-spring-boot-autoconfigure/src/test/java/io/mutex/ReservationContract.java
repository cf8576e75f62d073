package io.mutex;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import io.mutex.Acquisition.Granted;
import io.mutex.Acquisition.Held;
import io.mutex.LockProvider.Renewal;
import org.assertj.core.api.Assumptions;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The part of the contract about the place of the next holder.
 */
abstract class ReservationContract extends SharingContract {

	@Test
	void refusedWaiterIsTheNextHolder() {
		String one = Ask.newNonce();
		String two = Ask.newNonce();
		Holding holder = take(Ask.of(newKey()));
		assertThat(ask(Ask.of(holder.key()).waiter(one))).isInstanceOfSatisfying(Held.class,
				(held) -> assertThat(held.holder()).isEqualTo(holder.request().owner()));
		assertThat(ask(Ask.of(holder.key()).waiter(two))).isInstanceOf(Held.class);
		assertHeldBy(holder);
		provider().release(holder.key(), holder.nonce(), true);
		assertThat(ask(Ask.of(holder.key()).waiter(two))).isInstanceOfSatisfying(Held.class, (held) -> {
			assertThat(held.holder()).isNull();
			assertThat(held.remaining()).isBetween(Duration.ofMillis(1), Duration.ofMinutes(1));
		});
		Holding next = take(other(), Ask.of(holder.key()).waiter(one));
		assertThat(next.token()).isGreaterThan(holder.token());
		assertThat(ask(Ask.of(holder.key()).waiter(two))).isInstanceOf(Held.class);
		other().release(next.key(), next.nonce(), true);
		assertThat(ask(Ask.of(holder.key()).waiter(one))).isInstanceOf(Held.class);
		take(Ask.of(holder.key()).waiter(two));
	}

	@Test
	void grantEmptiesThePlace() {
		String one = Ask.newNonce();
		Holding holder = take(Ask.of(newKey()));
		assertThat(ask(Ask.of(holder.key()).waiter(one))).isInstanceOf(Held.class);
		provider().release(holder.key(), holder.nonce(), true);
		Holding next = take(Ask.of(holder.key()).waiter(one));
		provider().release(next.key(), next.nonce(), true);
		Holding other = take(Ask.of(holder.key()).waiter(Ask.newNonce()));
		assertHeldBy(other);
	}

	@Test
	void whoNeitherWaitsNorSharesIgnoresThePlace() {
		Holding holder = take(Ask.of(newKey()));
		assertThat(ask(Ask.of(holder.key()).waiter(Ask.newNonce()))).isInstanceOf(Held.class);
		provider().release(holder.key(), holder.nonce(), true);
		Holding run = take(Ask.of(holder.key()).unit("u"));
		assertHeldBy(run);
	}

	@Test
	void waitingWriterIsNotStarvedByReaders() {
		String writer = Ask.newNonce();
		Holding reader = take(Ask.of(newKey()).shared());
		assertThat(ask(Ask.of(reader.key()).waiter(writer))).isInstanceOf(Held.class);
		assertThat(ask(Ask.of(reader.key()).shared())).isInstanceOf(Held.class);
		assertThat(ask(Ask.of(reader.key()).shared().waiter(Ask.newNonce()))).isInstanceOf(Held.class);
		assertThat(provider().renew(List.of(reader.grant()))).containsExactly(Renewal.RENEWED);
		provider().release(reader.key(), reader.nonce(), true);
		assertThat(ask(Ask.of(reader.key()).shared())).isInstanceOf(Held.class);
		Holding written = take(other(), Ask.of(reader.key()).waiter(writer));
		other().release(written.key(), written.nonce(), true);
		assertThat(take(Ask.of(reader.key()).shared()).token()).isGreaterThan(written.token());
	}

	@Test
	void placeOfAWaiterThatCameNoMoreEndsByItself() {
		Holding holder = take(Ask.of(newKey()));
		assertThat(ask(Ask.of(holder.key()).waiter(Ask.newNonce(), SHORT))).isInstanceOf(Held.class);
		provider().release(holder.key(), holder.nonce(), true);
		Awaitility.await()
			.atMost(PATIENCE)
			.pollInterval(Duration.ofMillis(20))
			.until(() -> ask(Ask.of(holder.key()).shared()) instanceof Granted);
	}

	@Test
	void waiterProlongsItsPlaceByAsking() throws Exception {
		String waiter = Ask.newNonce();
		Holding holder = take(Ask.of(newKey()));
		assertThat(ask(Ask.of(holder.key()).waiter(waiter, SHORT))).isInstanceOf(Held.class);
		assertThat(ask(Ask.of(holder.key()).waiter(waiter, Duration.ofMinutes(1)))).isInstanceOf(Held.class);
		TimeUnit.MILLISECONDS.sleep(SHORT.toMillis() * 2);
		provider().release(holder.key(), holder.nonce(), true);
		assertThat(ask(Ask.of(holder.key()).shared())).isInstanceOf(Held.class);
		take(Ask.of(holder.key()).waiter(waiter));
	}

	@Test
	void releaseIsReportedToTheWaiterWhoseTurnItIs() throws Exception {
		String waiter = Ask.newNonce();
		String key = newKey();
		BlockingQueue<String> reports = new LinkedBlockingQueue<>();
		AtomicReference<@Nullable Boolean> answer = new AtomicReference<>();
		LockProvider store = open(this.namespace);
		Thread listener = new Thread(() -> {
			try {
				answer.set(store.listen(waiter, reports::add));
			}
			catch (InterruptedException ex) {
				answer.set(true);
			}
		});
		listener.start();
		try {
			// what was released before the store listens is not reported, and a store may
			// report nothing
			Awaitility.await().atMost(PATIENCE).until(() -> {
				Holding holder = take(Ask.of(key));
				assertThat(ask(Ask.of(key).waiter(waiter))).isInstanceOf(Held.class);
				provider().release(key, holder.nonce(), true);
				String report = reports.poll(100, TimeUnit.MILLISECONDS);
				Holding next = take(Ask.of(key).waiter(waiter));
				provider().release(key, next.nonce(), true);
				return report != null || Boolean.FALSE.equals(answer.get());
			});
			Assumptions.assumeThat(answer.get()).as("this store reports releases").isNotEqualTo(false);
			assertThat(reports).allMatch(key::equals);
			Holding unasked = take(Ask.of(newKey()));
			provider().release(unasked.key(), unasked.nonce(), true);
			Holding shared = take(Ask.of(newKey()).permits(1 + 1));
			Holding second = take(Ask.of(shared.key()).permits(2));
			assertThat(ask(Ask.of(shared.key()).permits(2).waiter(waiter))).isInstanceOf(Held.class);
			reports.clear();
			other().release(shared.key(), second.nonce(), true);
			Awaitility.await().atMost(PATIENCE).until(() -> shared.key().equals(reports.poll(1, TimeUnit.SECONDS)));
			assertThat(reports).doesNotContain(unasked.key());
		}
		finally {
			listener.interrupt();
			listener.join(PATIENCE.toMillis());
		}
		assertThat(listener.isAlive()).isFalse();
	}

}
