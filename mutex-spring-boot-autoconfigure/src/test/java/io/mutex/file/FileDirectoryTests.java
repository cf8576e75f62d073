package io.mutex.file;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.time.Duration;
import java.util.List;

import io.mutex.LockProvider.Grant;
import io.mutex.LockProvider.Renewal;
import io.mutex.MutexException;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link LockDirectory}.
 */
@ExtendWith(OutputCaptureExtension.class)
class FileDirectoryTests {

	@TempDir
	@SuppressWarnings("NullAway.Init")
	private Path temporary;

	@Test
	@DisplayName("C118 nothing is created before the provider is used")
	void providerThatIsNotUsedCreatesNothing() {
		Path directory = this.temporary.resolve("a/b");
		try (FileLockProvider provider = FileFixture.provider(directory)) {
			assertThat(provider.locks(1)).isEmpty();
			assertThat(this.temporary.resolve("a")).doesNotExist();
			provider.check();
			assertThat(directory).isDirectory();
		}
	}

	@Test
	void directoryIsCreatedForItsOwnerAlone() throws IOException {
		FileFixture.provider(this.temporary.resolve("a/b")).check();
		for (Path directory : List.of(this.temporary.resolve("a"), this.temporary.resolve("a/b"))) {
			assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(directory))).isEqualTo("rwx------");
		}
	}

	@Test
	@DisplayName("C118 a path that is no directory is refused with the property to set")
	void fileInPlaceOfTheDirectoryIsRefused() throws IOException {
		Path file = Files.createFile(this.temporary.resolve("file"));
		for (Path directory : List.of(file, file.resolve("locks"))) {
			FileLockProvider provider = FileFixture.provider(directory);
			assertThatExceptionOfType(MutexException.class).isThrownBy(provider::check)
				.withMessageContaining(directory.toString())
				.withMessageContaining("mutex.file.directory");
			assertThatExceptionOfType(MutexException.class).isThrownBy(() -> FileFixture.acquire(provider, "job"));
		}
	}

	@Test
	@DisplayName("C118 F9 a read-only file system is refused with the property to set")
	void readOnlyFileSystemIsRefused() throws Exception {
		FileLockProvider provider = FileFixture.provider(this.temporary.resolve("locks"));
		Grant grant = FileFixture.grant(provider, "job");
		assertThat(provider.release("job", grant.nonce(), true)).isNotNull();
		try (Mount ignored = Mount.readOnly(this.temporary)) {
			assertThatExceptionOfType(MutexException.class).isThrownBy(provider::check)
				.withMessageContaining(this.temporary.toString())
				.withMessageContaining("mutex.file.directory");
			assertThatExceptionOfType(MutexException.class).isThrownBy(() -> FileFixture.acquire(provider, "job"))
				.withMessageContaining("mutex.file.directory");
			FileLockProvider another = FileFixture.provider(this.temporary.resolve("new"));
			assertThatExceptionOfType(MutexException.class).isThrownBy(another::check)
				.withMessageContaining("mutex.file.directory");
		}
		assertThat(FileFixture.grant(provider, "job").token()).isGreaterThan(grant.token());
	}

	@ParameterizedTest(name = "C116 {0} is refused as a network file system")
	@ValueSource(strings = { "nfs", "nfs4", "cifs", "smb3", "fuse.sshfs", "9p", "ceph", "fuse.glusterfs", "lustre" })
	void networkFileSystemIsRefused(String type) {
		LockDirectory directory = new LockDirectory(this.temporary, "app", false, (path) -> type);
		assertThatExceptionOfType(MutexException.class).isThrownBy(directory::check)
			.withMessageContaining(type)
			.withMessageContaining("mutex.file.allow-network=true");
		FileLockProvider provider = new FileLockProvider(directory, "app", Clock.systemUTC(), new Durability());
		assertThatExceptionOfType(MutexException.class).isThrownBy(() -> FileFixture.acquire(provider, "job"));
	}

	@Test
	@DisplayName("C116 a network file system that is allowed is warned of")
	void allowedNetworkFileSystemIsWarnedOf(CapturedOutput output) {
		new LockDirectory(this.temporary, "app", true, (path) -> "nfs4").check();
		assertThat(output).contains("WARN").contains("nfs4").contains("mutex.file.allow-network");
	}

	@Test
	void localFileSystemsAreNoNetwork() {
		assertThat(List.of("ext4", "xfs", "btrfs", "zfs", "overlay", "tmpfs", "apfs", "NTFS", "fuseblk"))
			.noneMatch(NetworkFileSystems::contains);
	}

	@Test
	@DisplayName("C115 a directory for temporary files is warned of")
	void temporaryDirectoryIsWarnedOf(CapturedOutput output) {
		FileFixture.provider(this.temporary).check();
		assertThat(output).contains("WARN").contains("temporary files").contains("mutex.file.directory");
	}

	@Test
	@DisplayName("C117 the start says once that only processes with this directory are covered")
	void coverageIsSaidOnce(CapturedOutput output) {
		FileLockProvider provider = FileFixture.provider(this.temporary);
		provider.check();
		provider.check();
		assertThat(output).containsOnlyOnce("only processes that share this directory on this host are covered")
			.contains("INFO")
			.contains(this.temporary.toString());
	}

	@Test
	@DisplayName("C117 a directory inside a container is warned of")
	void containerLocalDirectoryIsWarnedOf(CapturedOutput output) {
		new LockDirectory(this.temporary, "app", false, (path) -> "overlay").check();
		assertThat(output).contains("WARN").contains("other containers are not covered");
	}

	@Test
	@DisplayName("C117 two directories exclude nothing")
	void directoriesAreApart() {
		FileLockProvider one = FileFixture.provider(this.temporary.resolve("one"));
		FileLockProvider two = FileFixture.provider(this.temporary.resolve("two"));
		Grant first = FileFixture.grant(one, "job");
		Grant second = FileFixture.grant(two, "job");
		assertThat(one.renew(List.of(first))).isEqualTo(two.renew(List.of(second))).containsOnly(Renewal.RENEWED);
		one.release("job", first.nonce(), true);
		two.release("job", second.nonce(), true);
	}

	@Test
	@DisplayName("F9 a removed directory is noticed, and made again for the next grant")
	void removedDirectoryIsMadeAgain() throws Exception {
		FileLockProvider provider = FileFixture.provider(this.temporary.resolve("locks"));
		Grant grant = FileFixture.grant(provider, "job");
		Path moved = this.temporary.resolve("moved");
		Files.move(this.temporary.resolve("locks"), moved);
		assertThat(provider.renew(List.of(grant))).containsExactly(Renewal.LOST);
		assertThat(provider.locks(10)).isEmpty();
		assertThat(FileFixture.grant(provider, "job").token()).isGreaterThan(grant.token());
		assertThat(provider.renewalInterval(Duration.ofMinutes(1))).isLessThanOrEqualTo(Duration.ofSeconds(1));
	}

	/**
	 * A file system that is mounted for the time of a test.
	 */
	static final class Mount implements AutoCloseable {

		private final Path path;

		private Mount(Path path) {
			this.path = path;
		}

		static Mount readOnly(Path path) throws Exception {
			assume("mount", "--bind", path.toString(), path.toString());
			Mount mount = new Mount(path);
			try {
				assume("mount", "-o", "remount,bind,ro", path.toString());
			}
			catch (RuntimeException ex) {
				mount.close();
				throw ex;
			}
			return mount;
		}

		static Mount memory(Path path, String options) throws Exception {
			assume("mount", "-t", "tmpfs", "-o", options, "tmpfs", path.toString());
			return new Mount(path);
		}

		@Override
		public void close() throws Exception {
			assertThat(run("umount", this.path.toString())).isZero();
		}

		private static void assume(String... command) throws Exception {
			Assumptions.assumeTrue(run(command) == 0, () -> "not permitted here: " + String.join(" ", command));
		}

		private static int run(String... command) throws Exception {
			try {
				return new ProcessBuilder(command).inheritIO().start().waitFor();
			}
			catch (IOException ex) {
				return -1;
			}
		}

	}

}
