package io.mutex.file;

import java.io.IOException;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.UnaryOperator;

import io.mutex.Acquisition;
import io.mutex.HeldLock;
import io.mutex.LockProvider.ForcedRelease;
import io.mutex.LockProvider.Grant;
import io.mutex.LockProvider.Renewal;
import io.mutex.LockProvider.Settlement;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link FileLockProvider} with several processes that hold a key at once, die
 * and lose their locks.
 */
class FileSharingTests {

	@TempDir(factory = MemoryDirectory.class)
	@SuppressWarnings("NullAway.Init")
	private static Path temporary;

	@SuppressWarnings("NullAway.Init")
	private static Path directory;

	@SuppressWarnings("NullAway.Init")
	private static List<FileChild> children;

	@SuppressWarnings("NullAway.Init")
	private static FileChild other;

	private static int keys;

	@SuppressWarnings("NullAway.Init")
	private FileLockProvider provider;

	@SuppressWarnings("NullAway.Init")
	private String key;

	@BeforeAll
	static void startChildren() {
		directory = temporary.resolve("locks");
		children = FileChild.start(3, directory);
		other = children.get(0);
	}

	@AfterAll
	static void closeChildren() {
		children.forEach(FileChild::close);
	}

	@BeforeEach
	void createProvider() {
		this.provider = FileFixture.provider(directory);
		this.key = "shared-" + keys++;
	}

	@Test
	void noMoreProcessesThanPermitsAreInsideAndEachTokenIsUsedOnce() {
		children.forEach((child) -> child.send("permits " + this.key + " 2 40"));
		assertThat(children).extracting(FileChild::answer).allMatch((answer) -> answer.startsWith("0 "));
		assertThat(this.provider.locks(100)).extracting(HeldLock::key).doesNotContain(this.key);
		FileFixture.grant(this.provider, this.key);
	}

	@Test
	void permitsAreCountedOverProcesses() {
		assertThat(other.ask("share " + this.key + " 2")).startsWith("granted");
		Grant second = FileFixture.share(this.provider, this.key, 2);
		assertThat(children.get(1).ask("share " + this.key + " 2")).startsWith("held");
		assertThat(children.get(1).ask("acquire " + this.key)).startsWith("held");
		assertThat(children.get(1).ask("share " + this.key + " 3")).startsWith("granted");
		assertThat(this.provider.locks(100)).filteredOn((lock) -> lock.key().equals(this.key))
			.extracting((lock) -> lock.owner().pid())
			.containsExactlyInAnyOrder(other.process().pid(), ProcessHandle.current().pid(),
					children.get(1).process().pid());
		assertThat(other.ask("release")).isEqualTo("SETTLED");
		// two hold it still
		assertThat(children.get(2).ask("share " + this.key + " 2")).startsWith("held");
		assertThat(this.provider.release(this.key, second.nonce(), true)).isEqualTo(Settlement.SETTLED);
		assertThat(children.get(2).ask("share " + this.key + " 2")).startsWith("granted");
		assertThat(children.get(1).ask("release")).isEqualTo("SETTLED");
		assertThat(children.get(2).ask("release")).isEqualTo("SETTLED");
		assertFree();
	}

	@Test
	void killedReaderIsInNobodysWayAndNotRemembered() throws IOException {
		try (FileChild reader = FileChild.start(directory)) {
			assertThat(reader.ask("share " + this.key + " 2")).startsWith("granted");
			Grant mine = FileFixture.share(this.provider, this.key, 2);
			String nonce = nonceOf(reader.process().pid());
			reader.process().pause();
			assertThat(other.ask("share " + this.key + " 2")).startsWith("held");
			reader.process().kill();
			Awaitility.await().until(() -> other.ask("share " + this.key + " 2").startsWith("granted"));
			assertThat(sharers()).extracting(SharedHolder::nonce).doesNotContain(nonce).contains(mine.nonce());
			assertThat(this.provider.acquire(FileFixture.request(this.key, nonce, 3, null)))
				.isEqualTo(new Acquisition.Stale());
			assertThat(this.provider.renew(List.of(mine))).containsExactly(Renewal.RENEWED);
			assertThat(other.ask("release")).isEqualTo("SETTLED");
			this.provider.release(this.key, mine.nonce(), true);
		}
	}

	@Test
	void writerFollowsAKilledReaderAndForgetsIt() throws IOException {
		try (FileChild reader = FileChild.start(directory)) {
			String token = reader.ask("share " + this.key + " 5").substring("granted ".length());
			assertThat(FileFixture.acquire(this.provider, this.key)).isInstanceOfSatisfying(Acquisition.Held.class,
					(held) -> {
						assertThat(held.holder()).isNotNull();
						assertThat(held.holder().pid()).isEqualTo(reader.process().pid());
					});
			String nonce = nonceOf(reader.process().pid());
			reader.process().kill();
			Awaitility.await().until(() -> FileFixture.acquire(this.provider, this.key) instanceof Acquisition.Granted);
			assertThat(sharers()).isEmpty();
			HeldLock held = this.provider.lock(this.key).orElseThrow();
			assertThat(held.token()).isGreaterThan(Long.parseLong(token));
			assertThat(this.provider.release(this.key, nonce, true)).isEqualTo(Settlement.NOT_OWNER);
			assertThat(this.provider.release(this.key, held.nonce(), true)).isEqualTo(Settlement.SETTLED);
			assertThat(this.provider.acquire(FileFixture.request(this.key, nonce, 3, null)))
				.isEqualTo(new Acquisition.Stale());
		}
	}

	@Test
	void waitingWriterIsLetInByReadersThatLeaveNoGap() {
		List<FileChild> readers = children.subList(0, 2);
		readers.forEach((reader) -> assertThat(reader.ask("overlap " + this.key)).isEqualTo("reading"));
		String waiter = FileFixture.nonce();
		String nonce = FileFixture.nonce();
		Awaitility.await()
			.atMost(FileChild.TIMEOUT)
			.until(() -> this.provider
				.acquire(FileFixture.request(this.key, nonce, 1, waiter)) instanceof Acquisition.Granted);
		assertThat(readers).extracting(FileChild::answer).containsOnly("refused");
		assertThat(other.ask("share " + this.key + " 2")).startsWith("held");
		this.provider.release(this.key, nonce, true);
		// a grant empties the place
		assertThat(other.ask("share " + this.key + " 2")).startsWith("granted");
		assertThat(other.ask("release")).isEqualTo("SETTLED");
	}

	@Test
	void waiterOfAnotherProcessHasItsTurnAfterAWriter() {
		Grant writer = FileFixture.grant(this.provider, this.key);
		String waiter = FileFixture.nonce();
		assertThat(other.ask("wait " + this.key + " " + waiter)).startsWith("held");
		this.provider.release(this.key, writer.nonce(), true);
		assertThat(ask(FileFixture.nonce())).isInstanceOfSatisfying(Acquisition.Held.class,
				(held) -> assertThat(held.remaining()).isNotNull());
		assertThat(other.ask("wait " + this.key + " " + waiter)).startsWith("granted");
		assertThat(other.ask("release")).isEqualTo("SETTLED");
		assertThat(ask(FileFixture.nonce())).isInstanceOf(Acquisition.Granted.class);
	}

	private Acquisition ask(@Nullable String waiter) {
		return this.provider.acquire(FileFixture.request(this.key, FileFixture.nonce(), 1, waiter));
	}

	@Test
	void foreignCloseLosesAllReadersOfTheProcessAndNoOther() throws IOException {
		Grant one = FileFixture.share(this.provider, this.key, 3);
		Grant two = FileFixture.share(this.provider, this.key, 3);
		assertThat(other.ask("share " + this.key + " 3")).startsWith("granted");
		assertThat(this.provider.renew(List.of(one, two))).containsExactly(Renewal.RENEWED, Renewal.RENEWED);
		Files.readString(FileFixture.files(directory, this.key).lock());
		// others take the bytes that were lost
		assertThat(children.get(1).ask("share " + this.key + " 3")).startsWith("granted");
		assertThat(children.get(2).ask("share " + this.key + " 3")).startsWith("granted");
		assertThat(FileFixture.acquire(this.provider, this.key)).isInstanceOf(Acquisition.Held.class);
		assertThat(share(3)).isInstanceOf(Acquisition.Held.class);
		assertThat(this.provider.renew(List.of(one, two))).containsExactly(Renewal.LOST, Renewal.LOST);
		assertThat(this.provider.release(this.key, one.nonce(), true)).isEqualTo(Settlement.NOT_OWNER);
		assertThat(share(3)).isInstanceOf(Acquisition.Held.class);
		assertThat(children).allSatisfy((child) -> assertThat(child.ask("renew")).isEqualTo("RENEWED"));
		assertThat(this.provider.locks(100)).filteredOn((lock) -> lock.key().equals(this.key)).hasSize(3);
		assertThat(children).allSatisfy((child) -> assertThat(child.ask("release")).isEqualTo("SETTLED"));
		assertFree();
	}

	@Test
	void releaseOfOneReaderLeavesTheOthersTheirLocks() {
		List<Grant> readers = List.of(FileFixture.share(this.provider, this.key, 9),
				FileFixture.share(this.provider, this.key, 9), FileFixture.share(this.provider, this.key, 9));
		this.provider.release(this.key, readers.get(1).nonce(), true);
		assertThat(this.provider.renew(readers)).containsExactly(Renewal.RENEWED, Renewal.LOST, Renewal.RENEWED);
		assertThat(other.ask("acquire " + this.key)).startsWith("held");
		this.provider.release(this.key, readers.get(0).nonce(), true);
		assertThat(other.ask("acquire " + this.key)).startsWith("held");
		this.provider.release(this.key, readers.get(2).nonce(), true);
		assertThat(other.ask("acquire " + this.key)).startsWith("granted");
		assertThat(other.ask("release")).isEqualTo("SETTLED");
	}

	@Test
	void removedLockFileLosesTheReaders() throws IOException {
		Grant reader = FileFixture.share(this.provider, this.key, 3);
		Files.delete(FileFixture.files(directory, this.key).lock());
		assertThat(other.ask("acquire " + this.key)).startsWith("granted");
		assertThat(this.provider.renew(List.of(reader))).containsExactly(Renewal.LOST);
		assertThat(this.provider.release(this.key, reader.nonce(), true)).isEqualTo(Settlement.NOT_OWNER);
		assertThat(other.ask("renew")).isEqualTo("RENEWED");
		assertThat(other.ask("release")).isEqualTo("SETTLED");
	}

	@Test
	void forcedReleaseIsRefusedWhileAnotherProcessHoldsTheKeyToo() {
		Grant mine = FileFixture.share(this.provider, this.key, 3);
		assertThat(other.ask("share " + this.key + " 3")).startsWith("granted");
		ForcedRelease refused = this.provider.forceRelease(this.key);
		assertThat(refused.result()).isEqualTo(ForcedRelease.Result.REFUSED);
		assertThat(refused.holder()).isNotNull();
		assertThat(refused.holder().owner().pid()).isEqualTo(other.process().pid());
		assertThat(this.provider.renew(List.of(mine))).containsExactly(Renewal.RENEWED);
		assertThat(other.ask("release")).isEqualTo("SETTLED");
		assertThat(this.provider.forceRelease(this.key).result()).isEqualTo(ForcedRelease.Result.RELEASED);
		assertThat(this.provider.renew(List.of(mine))).containsExactly(Renewal.LOST);
		assertFree();
	}

	@Test
	void processThatIsStoppedWhileItWritesTheStateKeepsNoReaderFromLeaving() {
		Grant reader = FileFixture.share(this.provider, this.key, 3);
		assertThat(other.ask("section " + this.key)).isEqualTo("inside");
		assertThat(share(3)).isInstanceOf(Acquisition.Held.class);
		assertThat(this.provider.release(this.key, reader.nonce(), true)).isEqualTo(Settlement.SETTLED);
		assertThat(this.provider.lock(this.key)).isEmpty();
		assertThat(other.ask("leave")).isEqualTo("outside");
		assertThat(this.provider.acquire(FileFixture.request(this.key, reader.nonce(), 3, null)))
			.isEqualTo(new Acquisition.Stale());
		assertThat(children.get(1).ask("acquire " + this.key)).startsWith("granted");
		assertThat(children.get(1).ask("release")).isEqualTo("SETTLED");
	}

	@Test
	void interruptsDoNotFreeTheLocksOfOtherReaders() {
		Grant reader = FileFixture.share(this.provider, this.key, 9);
		Thread worker = Thread.currentThread();
		AtomicBoolean over = new AtomicBoolean();
		Thread interrupter = new Thread(() -> {
			while (!over.get()) {
				worker.interrupt();
			}
		});
		interrupter.start();
		try {
			for (int i = 0; i < 50; i++) {
				Grant brief = FileFixture.share(this.provider, this.key, 9);
				assertThat(this.provider.release(this.key, brief.nonce(), true)).isEqualTo(Settlement.SETTLED);
			}
		}
		finally {
			over.set(true);
			while (interrupter.isAlive()) {
				Thread.onSpinWait();
			}
			Thread.interrupted();
		}
		assertThat(this.provider.renew(List.of(reader))).containsExactly(Renewal.RENEWED);
		assertThat(other.ask("acquire " + this.key)).startsWith("held");
		this.provider.release(this.key, reader.nonce(), true);
		assertFree();
	}

	@Test
	void readersOfTwoClassLoadersDoNotDropEachOthersLocks() throws Exception {
		try (URLClassLoader first = FileLossTests.isolated(); URLClassLoader second = FileLossTests.isolated()) {
			UnaryOperator<String> one = FileLossTests.session(first, directory);
			UnaryOperator<String> two = FileLossTests.session(second, directory);
			assertThat(one.apply("share " + this.key + " 2")).startsWith("granted");
			assertThat(two.apply("share " + this.key + " 2")).startsWith("granted");
			assertThat(share(2)).isInstanceOf(Acquisition.Held.class);
			assertThat(two.apply("release")).isEqualTo("SETTLED");
			assertThat(one.apply("renew")).isEqualTo("RENEWED");
			assertThat(other.ask("acquire " + this.key)).startsWith("held");
			assertThat(one.apply("release")).isEqualTo("SETTLED");
			assertFree();
		}
	}

	private Acquisition share(int permits) {
		return this.provider.acquire(FileFixture.request(this.key, FileFixture.nonce(), permits, null));
	}

	private void assertFree() {
		assertThat(this.provider.lock(this.key)).isEmpty();
		assertThat(other.ask("acquire " + this.key)).startsWith("granted");
		assertThat(other.ask("release")).isEqualTo("SETTLED");
	}

	private String nonceOf(long pid) {
		return this.provider.locks(100)
			.stream()
			.filter((lock) -> lock.key().equals(this.key) && lock.owner().pid() == pid)
			.map(HeldLock::nonce)
			.findFirst()
			.orElseThrow();
	}

	private List<SharedHolder> sharers() throws IOException {
		StoredState state = new StateStore(new Durability()).read(FileFixture.files(directory, this.key), this.key);
		assertThat(state).isNotNull();
		return state.sharers();
	}

}
