package io.mutex.file;

import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import io.mutex.Acquisition;
import io.mutex.LockProvider.Grant;
import io.mutex.LockProvider.Renewal;
import io.mutex.LockProvider.Settlement;
import io.mutex.MutexException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link StateStore}: what is on the disk, and when.
 */
class FileStateTests {

	@TempDir
	@SuppressWarnings("NullAway.Init")
	private Path directory;

	@SuppressWarnings("NullAway.Init")
	private Disk disk;

	@SuppressWarnings("NullAway.Init")
	private FileLockProvider provider;

	@BeforeEach
	void createProvider() {
		this.disk = new Disk();
		this.provider = FileFixture.provider(this.directory, this.disk);
	}

	@Test
	void eachStepFlushesOneFileAndItsDirectory() {
		Grant grant = FileFixture.grant(this.provider, "job");
		this.disk.assertFlushed(1);
		this.provider.renew(List.of(grant));
		this.provider.locks(10);
		assertThat(FileFixture.acquire(this.provider, "job")).isInstanceOf(Acquisition.Held.class);
		this.disk.assertFlushed(0);
		this.provider.release("job", grant.nonce(), true);
		this.disk.assertFlushed(1);
		Grant unit = FileFixture.grant(this.provider, "job", "today");
		this.disk.assertFlushed(1);
		this.provider.complete(unit, "today");
		this.disk.assertFlushed(1);
		assertThat(this.provider.acquire(FileFixture.request("job", FileFixture.nonce(), "today")))
			.isInstanceOf(Acquisition.Done.class);
		this.disk.assertFlushed(0);
	}

	@Test
	@DisplayName("F14 a grant that does not reach the disk fails, frees the key, and its token is not used again")
	void failedFlushFailsTheAcquisition() {
		Grant before = FileFixture.grant(this.provider, "job");
		this.provider.release("job", before.nonce(), true);
		this.disk.failure = new IOException("Input/output error");
		assertThatExceptionOfType(MutexException.class).isThrownBy(() -> FileFixture.acquire(this.provider, "job"))
			.withMessageContaining("file provider")
			.withMessageContaining("Input/output error");
		assertThat(this.provider.locks(10)).isEmpty();
		this.disk.failure = null;
		this.disk.directoryFailure = new IOException("Input/output error");
		assertThatExceptionOfType(MutexException.class).isThrownBy(() -> FileFixture.acquire(this.provider, "job"));
		long unconfirmed = token("job");
		this.disk.directoryFailure = null;
		Grant next = FileFixture.grant(this.provider, "job");
		assertThat(unconfirmed).isGreaterThan(before.token());
		assertThat(next.token()).isGreaterThan(unconfirmed);
	}

	@Test
	void recordThatDidNotReachTheDiskIsWrittenAgain() {
		Grant grant = FileFixture.grant(this.provider, "job", "today");
		this.disk.directoryFailure = new IOException("Input/output error");
		assertThatExceptionOfType(MutexException.class).isThrownBy(() -> this.provider.complete(grant, "today"));
		assertThat(FileFixture.acquire(this.provider, "job")).isInstanceOf(Acquisition.Held.class);
		this.disk.directoryFailure = null;
		this.disk.assertFlushed(2);
		assertThat(this.provider.complete(grant, "today")).isEqualTo(Settlement.SETTLED);
		this.disk.assertFlushed(1);
		assertThat(FileFixture.acquire(this.provider, "job")).isInstanceOf(Acquisition.Granted.class);
	}

	@Test
	void releaseThatCannotBeStoredFreesTheKeyAllTheSame() {
		Grant grant = FileFixture.grant(this.provider, "job", "today");
		this.disk.failure = new IOException("No space left on device");
		assertThatExceptionOfType(MutexException.class)
			.isThrownBy(() -> this.provider.release("job", grant.nonce(), true));
		this.disk.failure = null;
		assertThat(this.provider.acquire(FileFixture.request("job", FileFixture.nonce(), "today")))
			.isInstanceOfSatisfying(Acquisition.Granted.class, (granted) -> assertThat(granted.doubt()).isNotNull());
	}

	@ParameterizedTest(name = "F15 a state file that reads {0} is not taken for a state")
	@ValueSource(strings = { "", "garbage", "cut", "changed", "swapped" })
	void damagedStateFailsClosed(String damage) throws IOException {
		Grant grant = FileFixture.grant(this.provider, "job", "today");
		this.provider.complete(grant, "today");
		Path state = FileFixture.files(this.directory, "job").state();
		String content = Files.readString(state);
		Files.writeString(state, switch (damage) {
			case "cut" -> content.substring(0, content.length() / 2);
			case "changed" -> content.replace("today", "someday");
			case "swapped" -> content(FileFixture.grant(this.provider, "other"));
			default -> damage;
		});
		for (String unit : List.of("today", "tomorrow")) {
			assertThatExceptionOfType(MutexException.class)
				.isThrownBy(() -> this.provider.acquire(FileFixture.request("job", FileFixture.nonce(), unit)))
				.withMessageContaining(state.toString())
				.withMessageContaining("damaged")
				.withMessageContaining("delete it");
		}
		Files.writeString(state, content);
		assertThat(FileFixture.acquire(this.provider, "job")).isInstanceOf(Acquisition.Granted.class);
	}

	@Test
	@DisplayName("C123 lines and fields of a later version are passed over, and a later form is refused")
	void linesOfALaterVersionArePassedOver() throws IOException {
		Grant grant = FileFixture.grant(this.provider, "job", "today");
		this.provider.complete(grant, "today");
		Path state = FileFixture.files(this.directory, "job").state();
		SealedText later = new SealedText("mutex-state 1").line("colour", "green").line("nothing");
		for (List<String> line : SealedText.open("mutex-state 1", Files.readAllBytes(state))) {
			later.line((line.get(0).equals("run") ? String.join("\t", line) + "\tmore" : String.join("\t", line))
				.split("\t", -1));
		}
		Files.write(state, later.seal());
		assertThat(this.provider.acquire(FileFixture.request("job", FileFixture.nonce(), "today")))
			.isInstanceOf(Acquisition.Done.class);
		Files.write(state, new SealedText("mutex-state 2").line("key", "job").seal());
		assertThatExceptionOfType(MutexException.class).isThrownBy(() -> FileFixture.acquire(this.provider, "job"))
			.withMessageContaining("later version");
	}

	@ParameterizedTest(name = "F19 key {index}")
	@ValueSource(strings = { "..", "../../etc/passwd", "a/b", "/", "CON", "-rf", "日報:#{id}", "Job", "job", "job.",
			"a\\b", "*?<>|\"" })
	@DisplayName("F19 odd keys have files inside the directory")
	void oddKeysStayInTheDirectory(String key) throws IOException {
		for (String each : List.of(key, key + "x".repeat(190 - key.length()))) {
			Grant grant = FileFixture.grant(this.provider, each, each);
			assertThat(this.provider.locks(10)).extracting("key").containsExactly(each);
			assertThat(this.provider.complete(grant, each)).isEqualTo(Settlement.SETTLED);
			assertThat(this.provider.runs(each, 1)).extracting("unit").containsExactly(each);
		}
		try (var paths = Files.walk(this.directory)) {
			assertThat(paths.filter(Files::isRegularFile)).hasSize(4)
				.allSatisfy((path) -> assertThat(path.getFileName().toString())
					.matches("[A-Za-z0-9_-]{1,40}-[0-9a-f]{32}\\.(lock|state)"));
		}
	}

	@Test
	@DisplayName("C119 holder data is readable while the key is held, since the locked file is empty")
	void holderDataLiesOutsideTheLockedFile() throws IOException {
		Grant grant = FileFixture.grant(this.provider, "job");
		assertThat(Files.size(FileFixture.files(this.directory, "job").lock())).isZero();
		assertThat(content(grant)).contains(grant.nonce());
		assertThat(this.provider.renew(List.of(grant))).containsExactly(Renewal.RENEWED);
		this.provider.release("job", grant.nonce(), true);
	}

	@Test
	@DisplayName("C119 a rename that is denied for a moment is tried again")
	void deniedRenameIsTriedAgain() {
		this.disk.denials = 3;
		assertThat(FileFixture.acquire(this.provider, "job")).isInstanceOf(Acquisition.Granted.class);
		assertThat(this.disk.denials).isZero();
	}

	private String content(Grant grant) throws IOException {
		return Files.readString(FileFixture.files(this.directory, grant.key()).state(), StandardCharsets.UTF_8);
	}

	private long token(String key) {
		try {
			StoredState state = new StateStore(this.disk).read(FileFixture.files(this.directory, key).state());
			assertThat(state).isNotNull();
			return state.lock().token();
		}
		catch (IOException ex) {
			throw new AssertionError(ex);
		}
	}

	/**
	 * Counts what is flushed, and fails as no healthy disk does.
	 */
	private static final class Disk extends Durability {

		private @Nullable IOException failure;

		private @Nullable IOException directoryFailure;

		private int denials;

		private int files;

		private int directories;

		void assertFlushed(int times) {
			assertThat(List.of(this.files, this.directories)).containsOnly(times);
			this.files = 0;
			this.directories = 0;
		}

		@Override
		void flush(FileOutputStream out) throws IOException {
			this.files++;
			if (this.failure != null) {
				throw this.failure;
			}
			super.flush(out);
		}

		@Override
		void move(Path from, Path to) throws IOException {
			if (this.denials > 0) {
				this.denials--;
				throw new AccessDeniedException(to.toString());
			}
			super.move(from, to);
		}

		@Override
		void flushDirectory(Path directory) throws IOException {
			this.directories++;
			if (this.directoryFailure != null) {
				throw this.directoryFailure;
			}
			super.flushDirectory(directory);
		}

	}

}
