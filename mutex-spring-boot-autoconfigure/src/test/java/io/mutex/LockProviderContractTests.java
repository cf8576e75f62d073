package io.mutex;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import io.mutex.Acquisition.Done;
import io.mutex.Acquisition.Held;
import io.mutex.LockProvider.Renewal;
import io.mutex.LockProvider.Settlement;
import io.mutex.run.Owner;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The contract of {@link LockProvider}: a provider's test class extends this one and says
 * how its store is opened. This last part is about several processes.
 */
@Tag("compatibility")
public abstract class LockProviderContractTests extends ConcurrencyContract {

	@Test
	void oneProcessAtATimeIsInside(@TempDir Path directory) throws Exception {
		String key = newKey();
		int processes = 4;
		int times = 25;
		List<WorkerProcess> workers = new ArrayList<>();
		try {
			for (int i = 0; i < processes; i++) {
				workers.add(launchWorker());
			}
			workers.forEach(WorkerProcess::awaitReady);
			workers.forEach((worker) -> worker.send("count", key, directory.toString(), Integer.toString(times)));
			assertThat(workers).allSatisfy((worker) -> assertThat(worker.answer()).isEqualTo("overlaps 0"));
		}
		finally {
			workers.forEach(WorkerProcess::close);
		}
		assertThat(Files.readString(directory.resolve("counter"))).isEqualTo(Integer.toString(processes * times));
	}

	@Test
	void anotherProcessNeitherReleasesNorRenewsNorCompletes() throws Exception {
		Holding holding = take(Ask.of(newKey()).unit("u"));
		String token = Long.toString(holding.token());
		try (WorkerProcess worker = startWorker()) {
			assertThat(worker.tell("acquire", holding.key(), Ask.newNonce(), "120000", "u")).isEqualTo("Held");
			assertThat(worker.tell("release", holding.key(), Ask.newNonce(), "true")).isEqualTo("NOT_OWNER");
			assertThat(worker.tell("renew", holding.key(), Ask.newNonce(), token)).isEqualTo("[LOST]");
			assertThat(worker.tell("complete", holding.key(), Ask.newNonce(), token, "u")).isEqualTo("NOT_OWNER");
			assertHeldBy(holding);
			assertThat(provider().complete(holding.grant(), "u")).isEqualTo(Settlement.SETTLED);
			assertThat(worker.tell("acquire", holding.key(), Ask.newNonce(), "120000", "u")).isEqualTo("Done");
		}
	}

	@Test
	@DisplayName("C55 a process that looks like the holder gets nothing and changes nothing")
	void processThatLooksLikeTheHolderIsAnother() throws Exception {
		Holding holding = take(Ask.of(newKey()).unit("u"));
		Owner owner = holding.request().owner();
		String token = Long.toString(holding.token());
		try (WorkerProcess twin = startWorker()) {
			assertThat(twin.tell("acquire-as", holding.key(), "1", owner.toText())).isEqualTo("Held");
			assertThat(twin.tell("renew", holding.key(), Ask.newNonce(), token)).isEqualTo("[LOST]");
			assertThat(twin.tell("release", holding.key(), Ask.newNonce(), "true")).isEqualTo("NOT_OWNER");
			assertThat(twin.tell("complete", holding.key(), Ask.newNonce(), token, "u")).isEqualTo("NOT_OWNER");
			assertHeldBy(holding);
			assertThat(provider().complete(holding.grant(), "u")).isEqualTo(Settlement.SETTLED);
			String key = newKey();
			assertThat(twin.tell("acquire-as", key, "1", owner.toText())).startsWith("Granted");
			assertThat(ask(Ask.of(key).owner(owner))).isInstanceOf(Held.class);
			assertThat(provider().release(key, Ask.newNonce(), true)).isEqualTo(Settlement.NOT_OWNER);
			assertThat(ask(Ask.of(key).owner(owner))).isInstanceOfSatisfying(Held.class,
					(held) -> assertThat(held.holder()).isEqualTo(owner));
		}
	}

	@Test
	@DisplayName("C55 processes that look the same are counted as several holders")
	void processesThatLookTheSameAreSeveralHolders() throws Exception {
		Holding holding = take(Ask.of(newKey()).permits(2));
		String owner = holding.request().owner().toText();
		try (WorkerProcess twin = startWorker()) {
			assertThat(twin.tell("acquire-as", holding.key(), "2", owner)).startsWith("Granted");
			assertThat(twin.tell("acquire-as", holding.key(), "2", owner)).isEqualTo("Held");
			assertThat(ask(Ask.of(holding.key()).permits(2).owner(Owner.parse(owner)))).isInstanceOf(Held.class);
			assertThat(provider().locks(1000)).filteredOn((lock) -> lock.key().equals(holding.key())).hasSize(2);
			provider().release(holding.key(), holding.nonce(), true);
			assertThat(ask(Ask.of(holding.key()))).isInstanceOf(Held.class);
		}
	}

	@Test
	void whatAnotherProcessHoldsIsItsOwnUntilItCompletes() throws Exception {
		String key = newKey();
		String nonce = Ask.newNonce();
		try (WorkerProcess worker = startWorker()) {
			String[] granted = worker.tell("acquire", key, nonce, "120000", "u").split(" ");
			assertThat(granted[0]).isEqualTo("Granted");
			assertThat(ask(Ask.of(key).unit("u"))).isInstanceOfSatisfying(Held.class, (held) -> {
				assertThat(held.unit()).isEqualTo("u");
				assertThat(held.holder()).isNotNull();
				assertThat(held.holder().pid()).isEqualTo(worker.pid());
			});
			assertThat(provider().locks(1000)).anyMatch((lock) -> lock.key().equals(key)
					&& lock.owner().pid() == worker.pid() && lock.token() == Long.parseLong(granted[2]));
			assertThat(provider().release(key, Ask.newNonce(), true)).isEqualTo(Settlement.NOT_OWNER);
			assertThat(worker.tell("renew", key, nonce, granted[2])).isEqualTo("[RENEWED]");
			assertThat(worker.tell("complete", key, nonce, granted[2], "u")).isEqualTo("SETTLED");
			assertThat(ask(Ask.of(key).unit("u"))).isInstanceOf(Done.class);
			Holding next = take(Ask.of(key));
			assertThat(next.token()).isGreaterThan(Long.parseLong(granted[2]));
			assertThat(worker.tell("release", key, nonce, "true")).isEqualTo("NOT_OWNER");
			assertThat(provider().renew(List.of(next.grant()))).containsExactly(Renewal.RENEWED);
		}
	}

	@Test
	void keyOfAKilledProcessIsTakenOverWithItsDoubt() throws Exception {
		String key = newKey();
		String nonce = Ask.newNonce();
		long token;
		try (WorkerProcess worker = startWorker()) {
			String[] granted = worker.tell("acquire", key, nonce, "2000", "u").split(" ");
			token = Long.parseLong(granted[2]);
			worker.kill();
		}
		awaitFree(key);
		Holding next = take(Ask.of(key).unit("u"));
		assertThat(next.token()).isGreaterThan(token);
		assertThat(next.attempt()).isEqualTo(2);
		assertThat(next.doubt()).isNotNull();
		assertThat(next.doubt().token()).isEqualTo(token);
		assertThat(provider().release(key, nonce, true)).isEqualTo(Settlement.NOT_OWNER);
		assertHeldBy(next);
	}

}
