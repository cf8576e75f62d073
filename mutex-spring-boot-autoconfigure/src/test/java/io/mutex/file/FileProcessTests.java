package io.mutex.file;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.mutex.Acquisition;
import io.mutex.LockProvider.ForcedRelease;
import io.mutex.LockProvider.Grant;
import io.mutex.LockProvider.Renewal;
import io.mutex.MutexException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link FileLockProvider} with processes that compete, die and starve.
 */
class FileProcessTests {

	@TempDir(factory = MemoryDirectory.class)
	@SuppressWarnings("NullAway.Init")
	private Path temporary;

	@SuppressWarnings("NullAway.Init")
	private Path directory;

	@SuppressWarnings("NullAway.Init")
	private FileLockProvider provider;

	@BeforeEach
	void createProvider() {
		this.directory = this.temporary.resolve("locks");
		this.provider = FileFixture.provider(this.directory);
	}

	@Test
	@DisplayName("F1 C112 four processes are never in a section together")
	void fourProcessesExcludeEachOther() throws Exception {
		List<FileChild> children = FileChild.start(4, this.directory);
		try {
			children.forEach((child) -> child.send("loop job 25"));
			assertThat(children).extracting(FileChild::answer).containsOnly("violations 0");
			assertThat(Files.readString(this.temporary.resolve("counter"))).isEqualTo("100");
		}
		finally {
			children.forEach(FileChild::close);
		}
	}

	@Test
	@DisplayName("F10 the key of a killed process is free at once, that of a stopped one is not")
	void killFreesTheKeyAndStopDoesNot() {
		try (FileChild child = FileChild.start(this.directory)) {
			String token = child.ask("acquire job today").substring("granted ".length());
			child.process().pause();
			assertThat(FileFixture.acquire(this.provider, "job")).isInstanceOf(Acquisition.Held.class);
			assertThat(this.provider.locks(10)).hasSize(1);
			ForcedRelease refused = this.provider.forceRelease("job");
			assertThat(refused.result()).isEqualTo(ForcedRelease.Result.REFUSED);
			assertThat(refused.holder()).isNotNull();
			assertThat(refused.holder().owner().pid()).isEqualTo(child.process().pid());
			child.process().kill();
			Awaitility.await().until(() -> this.provider.locks(10).isEmpty());
			Acquisition next = this.provider.acquire(FileFixture.request("job", FileFixture.nonce(), "today"));
			assertThat(next).isInstanceOfSatisfying(Acquisition.Granted.class, (granted) -> {
				assertThat(granted.token()).isGreaterThan(Long.parseLong(token));
				assertThat(granted.attempt()).isEqualTo(2);
				assertThat(granted.doubt()).isNotNull();
			});
		}
	}

	@Test
	void keyThatAnotherProcessOnlyLooksAtIsNotHeld() {
		try (FileChild child = FileChild.start(this.directory)) {
			Grant first = FileFixture.grant(this.provider, "job");
			this.provider.release("job", first.nonce(), true);
			boolean brief = false;
			for (int round = 0; round < 50 && !brief; round++) {
				child.send("touch job 100");
				child.process().awaitLine("locked", FileChild.TIMEOUT);
				String nonce = FileFixture.nonce();
				Acquisition answer = this.provider.acquire(FileFixture.request("job", nonce, null));
				this.provider.release("job", nonce, true);
				// on a busy machine it may be held for longer than anybody looks
				brief = Long.parseLong(child.answer()) < 200;
				if (brief) {
					assertThat(answer).isInstanceOf(Acquisition.Granted.class);
				}
			}
			assertThat(brief).isTrue();
		}
	}

	@Test
	@DisplayName("F10 F11 a process that ends frees its key, also when a child of it lives on")
	void childOfTheHolderDoesNotKeepTheLock() throws Exception {
		try (FileChild child = FileChild.start(this.directory)) {
			child.ask("acquire job");
			ProcessHandle grandchild = ProcessHandle.of(Long.parseLong(child.ask("spawn"))).orElseThrow();
			try {
				child.process().terminate();
				Awaitility.await()
					.until(() -> FileFixture.acquire(this.provider, "job") instanceof Acquisition.Granted);
				assertThat(grandchild.isAlive()).isTrue();
			}
			finally {
				grandchild.destroyForcibly();
			}
		}
	}

	@Test
	@DisplayName("C120 of two processes that find the key of a dead one, exactly one wins")
	void oneOfTwoTakesOver() throws IOException {
		List<FileChild> children = FileChild.start(2, this.directory);
		try {
			for (int round = 0; round < 10; round++) {
				String key = "job-" + round;
				abandon(key);
				children.forEach((child) -> child.send("acquire " + key));
				assertThat(children).extracting(FileChild::answer)
					.filteredOn((answer) -> answer.startsWith("granted"))
					.hasSize(1);
			}
		}
		finally {
			children.forEach(FileChild::close);
		}
	}

	@Test
	@DisplayName("F18 two processes that want the keys of each other are refused, and see no deadlock of the system")
	void crossedKeysAreRefused() {
		List<FileChild> children = FileChild.start(2, this.directory);
		try {
			FileChild first = children.get(0);
			FileChild second = children.get(1);
			assertThat(first.ask("acquire a")).startsWith("granted");
			assertThat(second.ask("acquire b")).startsWith("granted");
			for (int round = 0; round < 20; round++) {
				first.send("acquire b");
				second.send("acquire a");
				assertThat(first.answer()).isEqualTo("held " + second.process().pid());
				assertThat(second.answer()).isEqualTo("held " + first.process().pid());
			}
			assertThat(first.ask("release")).isEqualTo("SETTLED");
			assertThat(second.ask("acquire a")).startsWith("granted");
		}
		finally {
			children.forEach(FileChild::close);
		}
	}

	private void abandon(String key) throws IOException {
		KeyFiles files = FileFixture.files(this.directory, key);
		Grant grant = FileFixture.grant(this.provider, key);
		byte[] held = Files.readAllBytes(files.state());
		this.provider.release(key, grant.nonce(), true);
		Files.write(files.state(), held);
	}

	@Test
	@DisplayName("C120 a process that got the number of a dead holder does not hold its key")
	void reusedProcessNumberHoldsNothing() throws Exception {
		KeyFiles files = FileFixture.files(this.directory, "job");
		Grant grant = FileFixture.grant(this.provider, "job");
		StateStore store = new StateStore(new Durability());
		StoredState state = store.read(files, "job");
		assertThat(state).isNotNull();
		this.provider.release("job", grant.nonce(), true);
		try (FileChild unrelated = FileChild.start(this.directory)) {
			ProcessIdentity dead = new ProcessIdentity(unrelated.process().pid(), "1@former-boot");
			store.write(files, new StoredState("job", state.lock(), dead, List.of(), false, List.of()));
			assertThat(this.provider.locks(10)).isEmpty();
			assertThat(this.provider.lock("job")).isEmpty();
			assertThat(unrelated.ask("acquire job")).startsWith("granted");
			assertThat(this.provider.lock("job"))
				.hasValueSatisfying((lock) -> assertThat(lock.owner().pid()).isEqualTo(unrelated.process().pid()));
		}
	}

	@Test
	@DisplayName("F16 a crash between the stored token and the grant leaves a gap, and no token is used twice")
	void tokenOfACrashedGrantIsNotUsedAgain() throws Exception {
		try (FileChild child = FileChild.start(this.directory)) {
			child.ask("crash-after-rename");
			child.send("acquire job today");
			assertThat(child.process().awaitExit(FileChild.TIMEOUT)).isEqualTo(7);
		}
		StoredState state = new StateStore(new Durability()).read(FileFixture.files(this.directory, "job"), "job");
		assertThat(state).isNotNull();
		assertThat(FileFixture.grant(this.provider, "job", "today").token()).isGreaterThan(state.lock().token());
	}

	@Test
	@DisplayName("F12 C118 a full disk refuses grants and frees the key; existing files serve again with space")
	void fullDiskFailsClosed() throws Exception {
		Files.createDirectories(this.directory);
		try (FileDirectoryTests.Mount ignored = FileDirectoryTests.Mount.memory(this.directory,
				"size=256k,nr_inodes=64")) {
			Grant grant = FileFixture.grant(this.provider, "job", "today");
			Path filler = this.directory.resolve("filler");
			Files.write(filler, new byte[200 * 1024]);
			try (OutputStream out = Files.newOutputStream(this.directory.resolve("rest"))) {
				for (int i = 0; i < 1024; i++) {
					out.write(new byte[1024]);
				}
			}
			catch (IOException ex) {
				assertThat(ex).hasMessageContaining("No space left");
			}
			assertError(() -> this.provider.complete(grant, "today"));
			assertError(() -> FileFixture.acquire(this.provider, "other"));
			assertThat(this.provider.runs("job", 10)).isEmpty();
			assertThat(this.provider.renew(List.of(grant))).containsExactly(Renewal.RENEWED);
			Files.delete(filler);
			assertThat(this.provider.complete(grant, "today").name()).isEqualTo("SETTLED");
			exhaustInodes();
			assertError(() -> FileFixture.acquire(this.provider, "third"));
		}
	}

	private void exhaustInodes() {
		for (int i = 0; i < 64; i++) {
			try {
				Files.createFile(this.directory.resolve("inode-" + i));
			}
			catch (IOException ex) {
				return;
			}
		}
	}

	@Test
	@DisplayName("F13 C116 a process without free file handles gets an error, and keeps what it holds")
	void missingFileHandlesAreAnError() throws Exception {
		try (FileChild child = FileChild.start(this.directory)) {
			FileFixture.grant(this.provider, "damaged");
			Files.writeString(FileFixture.files(this.directory, "damaged").state(), "");
			// all classes have to be loaded before the handles are gone
			assertThat(child.ask("acquire damaged")).startsWith("error");
			assertThat(child.ask("acquire job")).startsWith("granted");
			assertThat(child.ask("renew")).isEqualTo("RENEWED");
			Assumptions.assumeTrue(limit(child, "20"), "prlimit is not there");
			assertThat(child.ask("acquire other")).startsWith("error").contains("MutexException");
			assertThat(child.ask("renew")).isEqualTo("BUSY");
			assertThat(FileFixture.acquire(this.provider, "job")).isInstanceOf(Acquisition.Held.class);
			limit(child, "1024");
			assertThat(child.ask("renew")).isEqualTo("RENEWED");
			assertThat(child.ask("release")).isEqualTo("SETTLED");
		}
	}

	private static boolean limit(FileChild child, String handles) throws Exception {
		try {
			Process process = new ProcessBuilder("prlimit", "--pid", Long.toString(child.process().pid()),
					"--nofile=" + handles + ":")
				.inheritIO()
				.start();
			return process.waitFor(10, TimeUnit.SECONDS) && process.exitValue() == 0;
		}
		catch (IOException ex) {
			return false;
		}
	}

	private static void assertError(ThrowingCallable call) {
		assertThatExceptionOfType(MutexException.class).isThrownBy(call)
			.withMessageContaining("file provider")
			.withMessageContaining("mutex.file.directory");
	}

}
