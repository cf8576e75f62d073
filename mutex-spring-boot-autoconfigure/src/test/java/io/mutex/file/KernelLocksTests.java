package io.mutex.file;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

/**
 * Tests for {@link KernelLocks}.
 */
@ExtendWith(OutputCaptureExtension.class)
class KernelLocksTests {

	private static final FileIdentity FILE = new FileIdentity("65024:4711", 65024, 4711);

	@TempDir
	@SuppressWarnings("NullAway.Init")
	private Path directory;

	@Test
	void locksOfThisProcessAreSeen() throws IOException {
		KernelLocks locks = locks("1: POSIX  ADVISORY  WRITE %d fe:00:4711 0 EOF");
		locks.learn(FILE);
		assertThat(locks.view().shows(FILE, 0)).isTrue();
		assertThat(locks.view().shows(new FileIdentity("65024:4712", 65024, 4712), 0)).isFalse();
		assertThat(locks.view().shows(new FileIdentity("65025:4711", 65025, 4711), 0)).isFalse();
	}

	@Test
	void locksThatAreNotHeldByThisProcessAreNone() throws IOException {
		KernelLocks locks = locks("1: POSIX  ADVISORY  WRITE %d fe:00:4711 0 EOF");
		locks.learn(FILE);
		for (String line : new String[] { "1: POSIX  ADVISORY  WRITE 1%d fe:00:4711 0 EOF",
				"1: POSIX  ADVISORY  READ %d fe:00:4711 0 EOF", "1: FLOCK  ADVISORY  WRITE %d fe:00:4711 0 EOF",
				"1: -> POSIX  ADVISORY  WRITE %d fe:00:4711 0 EOF", "" }) {
			write(line);
			assertThat(locks.view().shows(FILE, 0)).as(line).isFalse();
		}
	}

	@Test
	void deviceThatTheKernelNumbersOtherwiseIsPassedOver() throws IOException {
		KernelLocks locks = locks("1: POSIX  ADVISORY  WRITE %d 00:2a:4711 0 EOF");
		locks.learn(FILE);
		assertThat(locks.view().shows(FILE, 0)).isTrue();
		write("");
		assertThat(locks.view().shows(FILE, 0)).isFalse();
	}

	@Test
	void listWithoutTheLocksOfThisProcessLosesNothing(CapturedOutput output) throws IOException {
		KernelLocks locks = locks("1: POSIX  ADVISORY  WRITE 0 fe:00:4711 0 EOF");
		locks.learn(FILE);
		locks.learn(FILE);
		assertThat(locks.view().shows(FILE, 0)).isTrue();
		assertThat(output).containsOnlyOnce("does not show the locks of this process");
	}

	@Test
	void listThatCannotBeReadIsNoLoss() throws IOException {
		KernelLocks locks = locks("1: POSIX  ADVISORY  WRITE %d fe:00:4711 0 EOF");
		locks.learn(FILE);
		Files.delete(this.directory.resolve("locks"));
		Files.createDirectory(this.directory.resolve("locks"));
		assertThatIOException().isThrownBy(() -> locks.view().shows(FILE, 0));
	}

	private KernelLocks locks(String line) throws IOException {
		write(line);
		return new KernelLocks(this.directory.resolve("locks"));
	}

	private void write(String line) throws IOException {
		Files.writeString(this.directory.resolve("locks"),
				String.format(line, ProcessHandle.current().pid()) + System.lineSeparator());
	}

}
