package io.mutex.file;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.mutex.Acquisition;
import io.mutex.LockProvider.Grant;
import io.mutex.LockProvider.Renewal;
import io.mutex.LockProvider.Settlement;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What other programs do to the locks of a process: some lock the same file, and one
 * fails what the process asks of the kernel.
 */
class FileForeignTests {

	private static final String LOCK = """
			import fcntl, sys
			file = open(sys.argv[2], "r+")
			try:
			    getattr(fcntl, sys.argv[1])(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
			    print("locked", flush=True)
			    sys.stdin.read()
			except BlockingIOError:
			    print("refused")
			""";

	@TempDir
	Path temporary;

	private Path directory;

	private FileLockProvider provider;

	@BeforeEach
	void createProvider() {
		this.directory = this.temporary.resolve("locks");
		this.provider = FileFixture.provider(this.directory);
	}

	@Test
	@DisplayName("F17 a program that locks records is refused by a holder and refuses one, a program that uses flock is neither")
	void recordLocksOfOtherProgramsExclude() throws Exception {
		Grant grant = FileFixture.grant(this.provider, "job");
		try (Program records = Program.lock("lockf", lockFile()); Program whole = Program.lock("flock", lockFile())) {
			assertThat(records.line()).isEqualTo("refused");
			assertThat(whole.line()).isEqualTo("locked");
			assertThat(this.provider.renew(List.of(grant))).containsExactly(Renewal.RENEWED);
			assertThat(this.provider.release("job", grant.nonce(), true)).isEqualTo(Settlement.SETTLED);
			assertThat(FileFixture.acquire(this.provider, "job")).isInstanceOf(Acquisition.Granted.class);
		}
		try (FileChild child = FileChild.start(this.directory)) {
			try (Program records = Program.lock("lockf", FileFixture.files(this.directory, "job").lock())) {
				assertThat(records.line()).isEqualTo("refused");
			}
			assertThat(child.ask("acquire other")).startsWith("granted");
			assertThat(child.ask("release")).isEqualTo("SETTLED");
			Path other = FileFixture.files(this.directory, "other").lock();
			try (Program records = Program.lock("lockf", other)) {
				assertThat(records.line()).isEqualTo("locked");
				assertThat(child.ask("acquire other")).startsWith("held");
			}
			assertThat(child.ask("acquire other")).startsWith("granted");
		}
	}

	private Path lockFile() {
		return FileFixture.files(this.directory, "job").lock();
	}

	@Test
	@DisplayName("F14 a grant whose flush the kernel fails is none, and its token is not used again")
	void flushThatTheKernelFailsGrantsNothing() throws Exception {
		try (FileChild child = FileChild.start(this.directory)) {
			long before = token(child.ask("acquire job"));
			assertThat(child.ask("release")).isEqualTo("SETTLED");
			try (Program ignored = Program.failFlushes(child.process().pid())) {
				assertThat(child.ask("acquire job")).startsWith("error")
					.containsAnyOf("sync failed", "Input/output error");
				assertThat(this.provider.locks(10)).isEmpty();
			}
			long after = token(child.ask("acquire job"));
			assertThat(after).isGreaterThan(before);
			assertThat(this.provider.lock("job"))
				.hasValueSatisfying((lock) -> assertThat(lock.token()).isEqualTo(after));
		}
	}

	private static long token(String answer) {
		assertThat(answer).startsWith("granted");
		return Long.parseLong(answer.substring("granted ".length()));
	}

	/**
	 * A program that is not one of ours, and is ended with the test.
	 */
	private static final class Program implements AutoCloseable {

		private final Process process;

		private Program(String... command) throws IOException {
			Process started;
			try {
				started = new ProcessBuilder(command).redirectErrorStream(true).start();
			}
			catch (IOException ex) {
				Assumptions.abort(command[0] + " is not there");
				throw ex;
			}
			this.process = started;
		}

		static Program lock(String function, Path file) throws IOException {
			return new Program("python3", "-c", LOCK, function, file.toString());
		}

		static Program failFlushes(long pid) throws IOException {
			List<String> command = new ArrayList<>(List.of("strace", "-f", "-qq", "-o", "/dev/null"));
			command.addAll(List.of("-e", "trace=fsync,fdatasync", "-e", "inject=fsync,fdatasync:error=EIO"));
			command.addAll(List.of("-p", Long.toString(pid)));
			Program program = new Program(command.toArray(String[]::new));
			Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> !program.process.isAlive() || isTraced(pid));
			Assumptions.assumeTrue(program.process.isAlive(), "strace may not trace here");
			return program;
		}

		private static boolean isTraced(long pid) throws IOException {
			try (Stream<Path> threads = Files.list(Path.of("/proc", Long.toString(pid), "task"))) {
				for (Path thread : threads.toList()) {
					if (Files.readString(thread.resolve("status")).contains("TracerPid:\t0\n")) {
						return false;
					}
				}
			}
			return true;
		}

		String line() throws IOException {
			String line = this.process.inputReader(StandardCharsets.UTF_8).readLine();
			Assumptions.assumeFalse(line == null, "python3 cannot lock here");
			return line;
		}

		@Override
		public void close() throws Exception {
			this.process.destroy();
			assertThat(this.process.waitFor(1, TimeUnit.MINUTES)).isTrue();
		}

	}

}
