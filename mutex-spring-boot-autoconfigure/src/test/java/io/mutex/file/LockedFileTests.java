package io.mutex.file;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.mutex.LeaseLostException;
import io.mutex.MutexException;
import io.mutex.StaleFencingTokenException;
import io.mutex.testing.FixedLease;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for {@link LockedFile}.
 */
class LockedFileTests {

	private static final String KEY = "account:42";

	@TempDir(factory = MemoryDirectory.class)
	@SuppressWarnings("NullAway.Init")
	private Path directory;

	@SuppressWarnings("NullAway.Init")
	private Path file;

	@BeforeEach
	void nameTheFile() {
		this.file = this.directory.resolve("ledger.txt");
	}

	@Test
	void fileThatDoesNotExistIsReadAsAnEmptyOne() {
		assertThat(LockedFile.read(this.file)).isEmpty();
		assertThat(this.file).doesNotExist();
		assertThat(LockedFile.update(this.file, (old) -> bytes(old.length + "!"))).asString().isEqualTo("0!");
		assertThat(LockedFile.read(this.file)).asString().isEqualTo("0!");
	}

	@Test
	void lockFileStaysAndIsEmpty() throws IOException {
		LockedFile.append(this.file, "a");
		LockedFile.append(this.file, "b");
		assertThat(this.directory.resolve("ledger.txt.lock")).isEmptyFile();
		try (Stream<Path> files = Files.list(this.directory)) {
			assertThat(files.map((path) -> path.getFileName().toString())).containsExactlyInAnyOrder("ledger.txt",
					"ledger.txt.lock");
		}
	}

	@Test
	void functionThatThrowsChangesNothing() {
		LockedFile.append(this.file, "a");
		assertThatIllegalStateException().isThrownBy(() -> LockedFile.update(this.file, (old) -> {
			throw new IllegalStateException("no");
		})).withMessage("no");
		assertThat(this.file).hasContent("a\n");
		LockedFile.append(this.file, "b");
		assertThat(this.file).hasContent("a\nb\n");
	}

	@Test
	void functionThatUsesItsOwnFileIsToldSo() {
		assertThatIllegalStateException().isThrownBy(() -> LockedFile.update(this.file, (old) -> {
			LockedFile.append(this.file, "inner");
			return old;
		})).withMessageContaining("uses its own file");
		Path other = this.directory.resolve("other.txt");
		LockedFile.update(this.file, (old) -> LockedFile.update(other, (empty) -> bytes("1")));
		assertThat(this.file).hasContent("1");
	}

	@Test
	void threadsOfOneProcessLoseNothing() throws Exception {
		int threads = 8;
		int rounds = 40;
		runInThreads(threads, () -> {
			for (int i = 0; i < rounds; i++) {
				LockedFile.update(this.file, LockedFileChild::increment);
				assertThat(LockedFile.read(this.file)).isNotEmpty();
			}
		});
		assertThat(this.file).hasContent(Integer.toString(threads * rounds));
	}

	@Test
	@DisplayName("F6 threads that are interrupted all the time lose nothing and stay interrupted")
	void interruptsLoseNothing() throws Exception {
		int threads = 4;
		int rounds = 40;
		CountDownLatch done = new CountDownLatch(threads);
		AtomicBoolean kept = new AtomicBoolean(true);
		Thread[] workers = IntStream.range(0, threads).mapToObj((thread) -> new Thread(() -> {
			for (int i = 0; i < rounds; i++) {
				LockedFile.append(this.file, "line-" + thread + "-" + i);
				Thread.currentThread().interrupt();
				LockedFile.update(this.directory.resolve("counter"), LockedFileChild::increment);
				kept.compareAndSet(true, Thread.interrupted());
			}
			done.countDown();
		})).toArray(Thread[]::new);
		for (Thread worker : workers) {
			worker.start();
		}
		while (done.getCount() > 0) {
			for (Thread worker : workers) {
				worker.interrupt();
			}
			Thread.onSpinWait();
		}
		for (Thread worker : workers) {
			worker.join();
		}
		assertThat(kept).isTrue();
		assertThat(Files.readAllLines(this.file)).hasSize(threads * rounds).doesNotHaveDuplicates();
		assertThat(this.directory.resolve("counter")).hasContent(Integer.toString(threads * rounds));
	}

	@Test
	void lineBehindATornOneIsALineOfItsOwn() throws IOException {
		Files.writeString(this.file, "whole\nto");
		LockedFile.append(this.file, "next");
		assertThat(this.file).hasContent("whole\nto\nnext\n");
		LockedFile.append(this.file, bytes("raw"));
		assertThat(this.file).hasContent("whole\nto\nnext\nraw");
	}

	@ParameterizedTest
	@ValueSource(strings = { "a\nb", "a\r", "\n" })
	void lineBreakInALineIsRefused(String line) {
		assertThatIllegalArgumentException().isThrownBy(() -> LockedFile.append(this.file, line));
		assertThat(this.file).doesNotExist();
	}

	@Test
	@DisplayName("F4 a symbolic link shares the lock and the fence of its file and stays a link")
	void symbolicLinkLeadsToItsFile() throws IOException {
		Path link = Files.createSymbolicLink(this.directory.resolve("link"), Path.of("ledger.txt"));
		LockedFile.append(link, "a");
		assertThat(link).isSymbolicLink();
		assertThat(this.file).hasContent("a\n");
		LockedFile.replace(link, bytes("b"), lease(2));
		assertThat(link).isSymbolicLink();
		assertThat(this.directory.resolve("link.lock")).doesNotExist();
		assertThatExceptionOfType(StaleFencingTokenException.class)
			.isThrownBy(() -> LockedFile.replace(this.file, bytes("c"), lease(1)));
		Path directoryLink = Files.createSymbolicLink(this.directory.resolve("linked"), this.directory);
		assertThatIllegalStateException().isThrownBy(() -> LockedFile.update(this.file, lease(2),
				(old) -> LockedFile.read(directoryLink.resolve("ledger.txt"))));
	}

	@Test
	void permissionsOfTheFileStay() throws IOException {
		LockedFile.append(this.file, "secret");
		for (String permissions : new String[] { "rw-------", "rw-rw-r--", "rwxrwxrwx" }) {
			Files.setPosixFilePermissions(this.file, PosixFilePermissions.fromString(permissions));
			LockedFile.update(this.file, (old) -> bytes("new"));
			assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(this.file))).isEqualTo(permissions);
		}
	}

	@Test
	void directoryThatDoesNotExistIsNamedAndNotCreated() {
		Path missing = this.directory.resolve("missing/ledger.txt");
		assertThatExceptionOfType(MutexException.class).isThrownBy(() -> LockedFile.append(missing, "a"))
			.withMessageContaining(missing.toString())
			.withMessageContaining("Check the directory");
		assertThat(missing.getParent()).doesNotExist();
		assertThatExceptionOfType(MutexException.class).isThrownBy(() -> LockedFile.read(this.directory))
			.withMessageContaining("it is a directory");
	}

	@Test
	@DisplayName("F9 C118 a read-only directory is refused, and with an existing lock file the content is unharmed")
	void readOnlyDirectoryIsRefused() throws Exception {
		LockedFile.replace(this.file, bytes("100"), lease(1));
		try (FileDirectoryTests.Mount ignored = FileDirectoryTests.Mount.readOnly(this.directory)) {
			assertThatExceptionOfType(MutexException.class)
				.isThrownBy(() -> LockedFile.replace(this.file, bytes("150"), lease(2)))
				.withMessageContaining("permissions");
			assertThatExceptionOfType(MutexException.class)
				.isThrownBy(() -> LockedFile.read(this.directory.resolve("other.txt")));
		}
		assertThat(this.file).hasContent("100");
		LockedFile.replace(this.file, bytes("150"), lease(1));
	}

	@Test
	@DisplayName("F12 C118 a full disk changes neither content nor fence, and serves again with space")
	void fullDiskChangesNothing() throws Exception {
		try (FileDirectoryTests.Mount ignored = FileDirectoryTests.Mount.memory(this.directory,
				"size=256k,nr_inodes=32")) {
			Path log = this.directory.resolve("log.txt");
			LockedFile.replace(this.file, bytes("100"), lease(1));
			LockedFile.append(log, "a");
			Path filler = this.directory.resolve("filler");
			fill(filler);
			assertThatExceptionOfType(MutexException.class)
				.isThrownBy(() -> LockedFile.replace(this.file, bytes("150"), lease(2)))
				.withMessageContaining("disk space");
			assertThatExceptionOfType(MutexException.class)
				.isThrownBy(() -> LockedFile.append(log, "b".repeat(10_000)));
			assertThat(this.file).hasContent("100");
			assertThat(log).hasContent("a\n");
			assertThat(LockedFile.read(this.file, lease(1))).asString().isEqualTo("100");
			Files.delete(filler);
			LockedFile.replace(this.file, bytes("150"), lease(2));
			LockedFile.append(log, "b");
			assertThat(this.file).hasContent("150");
			assertThat(log).hasContent("a\nb\n");
		}
	}

	private static void fill(Path path) throws IOException {
		try (OutputStream out = Files.newOutputStream(path)) {
			for (int i = 0; i < 1024; i++) {
				out.write(new byte[1024]);
			}
		}
		catch (IOException ex) {
			assertThat(ex).hasMessageContaining("No space left");
		}
	}

	@Test
	@DisplayName("C69 I2 only a later grant or the same one may write, and the refusal is told to the lease")
	void onlyALaterGrantOrTheSameMayWrite() {
		FixedLease first = lease(5);
		LockedFile.replace(this.file, bytes("5"), first);
		LockedFile.replace(this.file, bytes("5 again"), first);
		FixedLease older = lease(4);
		assertThatExceptionOfType(StaleFencingTokenException.class)
			.isThrownBy(() -> LockedFile.replace(this.file, bytes("4"), older))
			.satisfies((ex) -> {
				assertThat(ex.getResource()).isEqualTo(this.file.toRealPath().toString());
				assertThat(ex.getToken().value()).isEqualTo(4);
				assertThat(ex.getAccepted().value()).isEqualTo(5);
			});
		assertThat(older.refusals()).hasSize(1);
		FixedLease twin = new FixedLease(KEY, 5, "another");
		assertThatExceptionOfType(StaleFencingTokenException.class)
			.isThrownBy(() -> LockedFile.update(this.file, twin, (old) -> bytes("twin")));
		assertThat(this.file).hasContent("5 again");
		LockedFile.replace(this.file, bytes("6"), lease(6));
		assertThatExceptionOfType(StaleFencingTokenException.class)
			.isThrownBy(() -> LockedFile.replace(this.file, bytes("5"), first));
		assertThat(first.refusals()).hasSize(1);
		assertThat(this.file).hasContent("6");
	}

	@Test
	@DisplayName("I3 reading with a lease refuses the earlier holder's write from then on")
	void readingRegisters() {
		LockedFile.replace(this.file, bytes("100"), lease(1));
		assertThat(LockedFile.read(this.file, lease(2))).asString().isEqualTo("100");
		assertThatExceptionOfType(StaleFencingTokenException.class)
			.isThrownBy(() -> LockedFile.replace(this.file, bytes("90"), lease(1)));
		assertThatExceptionOfType(StaleFencingTokenException.class)
			.isThrownBy(() -> LockedFile.read(this.file, lease(1)));
		assertThat(LockedFile.read(this.file)).asString().isEqualTo("100");
	}

	@Test
	@DisplayName("C73 a grant of another key is refused, and both keys are named")
	void grantOfAnotherKeyIsRefused() {
		LockedFile.replace(this.file, bytes("100"), lease(1));
		assertThatExceptionOfType(MutexException.class)
			.isThrownBy(() -> LockedFile.replace(this.file, bytes("90"), new FixedLease("account:43", 9, "nonce")))
			.withMessageContaining("'account:42'")
			.withMessageContaining("'account:43'");
		assertThat(this.file).hasContent("100");
	}

	@Test
	void writeWithoutALeaseIsRefusedOnceTheFileHasAFence() {
		LockedFile.append(this.file, "a");
		LockedFile.replace(this.file, bytes("100"), lease(1));
		assertThatExceptionOfType(MutexException.class).isThrownBy(() -> LockedFile.append(this.file, "b"))
			.withMessageContaining("'account:42'")
			.withMessageContaining("without a lease");
		assertThatExceptionOfType(MutexException.class).isThrownBy(() -> LockedFile.update(this.file, (old) -> old));
		assertThat(LockedFile.read(this.file)).asString().isEqualTo("100");
	}

	@Test
	void lostLeaseWritesNothing() {
		assertThatExceptionOfType(LeaseLostException.class)
			.isThrownBy(() -> LockedFile.replace(this.file, bytes("1"), lease(1).lose()));
		assertThat(this.directory).isEmptyDirectory();
		FixedLease lostMeanwhile = lease(2);
		assertThatExceptionOfType(LeaseLostException.class)
			.isThrownBy(() -> LockedFile.update(this.file, lostMeanwhile, (old) -> {
				lostMeanwhile.lose();
				return bytes("2");
			}));
		assertThat(this.file).doesNotExist();
	}

	@Test
	void leaseThatIsLostWhileItWaitsWaitsNoLonger() throws Exception {
		CountDownLatch inside = new CountDownLatch(1);
		CountDownLatch leave = new CountDownLatch(1);
		Thread holder = new Thread(() -> LockedFile.update(this.file, (old) -> {
			inside.countDown();
			await(leave);
			return bytes("held");
		}));
		holder.start();
		inside.await();
		FixedLease lease = lease(1);
		LockedFiles patient = new LockedFiles(new Durability(), Duration.ofHours(1));
		Thread loser = new Thread(lease::lose);
		loser.start();
		assertThatExceptionOfType(LeaseLostException.class)
			.isThrownBy(() -> patient.update(this.file, lease, (old) -> bytes("1")));
		leave.countDown();
		holder.join();
		loser.join();
		assertThat(this.file).hasContent("held");
	}

	@ParameterizedTest(name = "F15 a fence file with the content ''{0}'' refuses everybody")
	@ValueSource(strings = { "", "torn", "mutex-fence 1\naccount:42\t1\tnonce", "mutex-fence 1\nchecksum\t00000000\n" })
	void damagedFenceRefusesEverybody(String content) throws IOException {
		LockedFile.replace(this.file, bytes("100"), lease(1));
		Files.writeString(this.directory.resolve("ledger.txt.fence"), content);
		assertThatExceptionOfType(MutexException.class)
			.isThrownBy(() -> LockedFile.replace(this.file, bytes("150"), lease(2)))
			.withMessageContaining("ledger.txt.fence is damaged")
			.withMessageContaining("delete it");
		assertThatExceptionOfType(MutexException.class).isThrownBy(() -> LockedFile.append(this.file, "line"));
		assertThat(this.file).hasContent("100");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "account:42", "account:42\t0\tnonce", "account:42\tmany\tnonce" })
	void sealedFenceWithoutAGrantIsDamaged(String line) throws IOException {
		Files.write(this.directory.resolve("ledger.txt.fence"),
				new SealedText("mutex-fence 1").line(line.split("\t")).seal());
		assertThatExceptionOfType(MutexException.class)
			.isThrownBy(() -> LockedFile.replace(this.file, bytes("150"), lease(2)))
			.withMessageContaining("is damaged");
	}

	@Test
	@DisplayName("F8 a lock file that is removed while a function runs lets nothing be written")
	void removedLockFileIsNoticed() {
		LockedFile.append(this.file, "a");
		assertThatExceptionOfType(MutexException.class).isThrownBy(() -> LockedFile.update(this.file, (old) -> {
			assertThat(this.directory.resolve("ledger.txt.lock").toFile().delete()).isTrue();
			return bytes("b");
		})).withMessageContaining("was removed");
		assertThat(this.file).hasContent("a\n");
		LockedFile.append(this.file, "c");
		assertThat(this.file).hasContent("a\nc\n");
	}

	private static void await(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static void runInThreads(int count, Runnable work) throws InterruptedException {
		AtomicBoolean failed = new AtomicBoolean();
		Thread[] threads = IntStream.range(0, count).mapToObj((i) -> {
			Thread thread = new Thread(work);
			thread.setUncaughtExceptionHandler((failing, ex) -> failed.set(true));
			thread.start();
			return thread;
		}).toArray(Thread[]::new);
		for (Thread thread : threads) {
			thread.join();
		}
		assertThat(failed).isFalse();
	}

	private static FixedLease lease(long token) {
		return new FixedLease(KEY, token, "nonce-" + token);
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

}
