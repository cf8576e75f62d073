package io.mutex.file;

import java.io.FileInputStream;
import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import io.mutex.Acquisition;
import io.mutex.LockProvider.Grant;
import io.mutex.LockProvider.Renewal;
import io.mutex.LockProvider.Settlement;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for all that makes the kernel drop a lock of this process, as another process
 * sees it.
 */
class FileLossTests {

	@TempDir(factory = MemoryDirectory.class)
	@SuppressWarnings("NullAway.Init")
	private static Path temporary;

	@SuppressWarnings("NullAway.Init")
	private static Path directory;

	@SuppressWarnings("NullAway.Init")
	private static FileChild other;

	private static int keys;

	@SuppressWarnings("NullAway.Init")
	private FileLockProvider provider;

	@SuppressWarnings("NullAway.Init")
	private String key;

	@BeforeAll
	static void startOther() {
		directory = temporary.resolve("locks");
		other = FileChild.start(directory);
	}

	@AfterAll
	static void closeOther() {
		other.close();
	}

	@BeforeEach
	void createProvider() {
		this.provider = FileFixture.provider(directory);
		this.key = "job-" + keys++;
	}

	@Test
	@DisplayName("F2 F20 C119 listing, health checks and failed attempts in the holder's process let nobody in")
	void lookingAtAHeldLockDoesNotFreeIt() {
		Grant grant = FileFixture.grant(this.provider, this.key);
		FileLockProvider second = FileFixture.provider(directory);
		for (int i = 0; i < 1000; i++) {
			assertThat(second.lock(this.key)).isPresent();
			second.locks(10);
			second.runs(this.key, 10);
		}
		for (int i = 0; i < 50; i++) {
			assertThat(FileFixture.acquire(second, this.key)).isInstanceOf(Acquisition.Held.class);
			assertThat(second.release(this.key, FileFixture.nonce(), true)).isEqualTo(Settlement.NOT_OWNER);
			second.check();
		}
		assertDenied(grant);
	}

	@Test
	@DisplayName("F3 code that opens and closes the lock file makes the lease LOST within a second")
	void foreignCloseIsNoticed() throws Exception {
		Path lock = FileFixture.files(directory, this.key).lock();
		for (Foreign foreign : List.<Foreign>of(Files::readString, (path) -> {
			try (FileInputStream in = new FileInputStream(hardLink(path).toFile())) {
				in.read();
			}
			return "";
		}, (path) -> Files.copy(path, temporary.resolve("copy-" + keys++)))) {
			Grant grant = FileFixture.grant(this.provider, this.key, "today");
			assertThat(this.provider.renew(List.of(grant))).containsExactly(Renewal.RENEWED);
			foreign.touch(lock);
			assertThat(this.provider.renewalInterval(FileFixture.TTL)).isLessThan(Duration.ofSeconds(1));
			assertThat(this.provider.renew(List.of(grant))).containsExactly(Renewal.LOST);
			assertThat(other.ask("acquire " + this.key + " today")).startsWith("granted").endsWith("in doubt");
			assertThat(this.provider.complete(grant, "today")).isEqualTo(Settlement.NOT_OWNER);
			assertThat(this.provider.release(this.key, grant.nonce(), true)).isEqualTo(Settlement.NOT_OWNER);
			assertThat(other.ask("renew")).isEqualTo("RENEWED");
			assertThat(other.ask("release")).isEqualTo("SETTLED");
		}
	}

	@Test
	@DisplayName("F3 a completion after a foreign close is refused, also if no renewal came between")
	void completionAfterAForeignCloseIsRefused() throws Exception {
		Grant grant = FileFixture.grant(this.provider, this.key, "today");
		Files.readString(FileFixture.files(directory, this.key).lock());
		assertThat(other.ask("acquire " + this.key + " today")).startsWith("granted");
		assertThat(this.provider.complete(grant, "today")).isEqualTo(Settlement.NOT_OWNER);
		assertThat(other.ask("complete today")).isEqualTo("SETTLED");
	}

	@Test
	void lostKeyIsGrantedAgainWithAHigherToken() throws Exception {
		Grant lost = FileFixture.grant(this.provider, this.key, "today");
		Files.readString(FileFixture.files(directory, this.key).lock());
		assertThat(this.provider.renew(List.of(lost))).containsExactly(Renewal.LOST);
		Grant next = FileFixture.grant(this.provider, this.key, "today");
		assertThat(next.token()).isGreaterThan(lost.token());
		assertThat(this.provider.release(this.key, lost.nonce(), true)).isEqualTo(Settlement.NOT_OWNER);
		assertThat(this.provider.complete(lost, "today")).isEqualTo(Settlement.NOT_OWNER);
		assertDenied(next);
	}

	@Test
	@DisplayName("F4 links and relative paths lead to the same lock")
	void everyPathIsTheSameLock() throws Exception {
		Grant grant = FileFixture.grant(this.provider, this.key);
		Path link = Files.createSymbolicLink(temporary.resolve("link-" + keys++), directory);
		Path relative = Path.of("").toAbsolutePath().relativize(directory.toAbsolutePath());
		for (Path path : List.of(link, relative, directory.resolve("../locks"))) {
			FileLockProvider same = FileFixture.provider(path);
			assertThat(FileFixture.acquire(same, this.key)).isInstanceOf(Acquisition.Held.class);
			assertThat(same.renew(List.of(grant))).containsExactly(Renewal.RENEWED);
		}
		// another key whose lock file is a link to the held one
		Path linked = FileFixture.files(directory, this.key + "-linked").lock();
		Files.createLink(linked, FileFixture.files(directory, this.key).lock());
		assertThat(FileFixture.acquire(this.provider, this.key + "-linked")).isInstanceOf(Acquisition.Held.class);
		assertDenied(grant);
	}

	@Test
	@DisplayName("F5 two class loaders exclude each other and do not drop each other's locks")
	void classLoadersShareTheLocks() throws Exception {
		try (URLClassLoader first = isolated(); URLClassLoader second = isolated()) {
			UnaryOperator<String> one = session(first, directory);
			UnaryOperator<String> two = session(second, directory);
			assertThat(one.getClass()).isNotEqualTo(two.getClass());
			assertThat(one.apply("acquire " + this.key)).startsWith("granted");
			assertThat(two.apply("acquire " + this.key)).isEqualTo("held " + ProcessHandle.current().pid());
			assertThat(FileFixture.acquire(this.provider, this.key)).isInstanceOf(Acquisition.Held.class);
			assertThat(other.ask("acquire " + this.key)).isEqualTo("held " + ProcessHandle.current().pid());
			assertThat(one.apply("renew")).isEqualTo("RENEWED");
			assertThat(one.apply("release")).isEqualTo("SETTLED");
			assertThat(two.apply("acquire " + this.key)).startsWith("granted");
			assertThat(two.apply("release")).isEqualTo("SETTLED");
		}
	}

	@Test
	@DisplayName("F2 a lock that other code of this process holds on the lock file is not dropped by an attempt")
	void lockOfOtherCodeIsLeftAlone() throws Exception {
		FileFixture.grant(this.provider, this.key + "-first");
		Grant grant = FileFixture.grant(this.provider, this.key);
		this.provider.release(this.key, grant.nonce(), true);
		Path path = FileFixture.files(directory, this.key).lock();
		try (FileChannel channel = FileChannel.open(path, StandardOpenOption.WRITE); FileLock lock = channel.lock()) {
			assertThat(lock.isValid()).isTrue();
			for (int i = 0; i < 3; i++) {
				assertThat(FileFixture.acquire(this.provider, this.key)).isInstanceOf(Acquisition.Held.class);
			}
			assertThat(other.ask("acquire " + this.key)).isEqualTo("held unknown");
		}
		assertDenied(FileFixture.grant(this.provider, this.key));
	}

	@Test
	@DisplayName("F6 interrupts neither free a held lock nor get lost")
	void interruptsDoNotFreeTheLock() throws Exception {
		Thread worker = Thread.currentThread();
		AtomicBoolean over = new AtomicBoolean();
		CountDownLatch storm = new CountDownLatch(1);
		Thread interrupter = new Thread(() -> {
			while (!over.get()) {
				worker.interrupt();
				storm.countDown();
				Thread.onSpinWait();
			}
		});
		interrupter.start();
		try {
			awaitUninterrupted(storm);
			for (int i = 0; i < 100; i++) {
				Grant grant = FileFixture.grant(this.provider, this.key, "unit-" + i);
				assertThat(FileFixture.acquire(this.provider, this.key)).isInstanceOf(Acquisition.Held.class);
				assertThat(this.provider.renew(List.of(grant))).containsExactly(Renewal.RENEWED);
				assertThat(this.provider.complete(grant, "unit-" + i)).isEqualTo(Settlement.SETTLED);
			}
		}
		finally {
			over.set(true);
			join(interrupter);
		}
		Thread.currentThread().interrupt();
		Grant grant = FileFixture.grant(this.provider, this.key);
		assertThat(Thread.interrupted()).isTrue();
		assertDenied(grant);
	}

	@Test
	@DisplayName("F6 interrupts that come faster than the disk flushes do not break an acquisition")
	void interruptsFasterThanTheDisk() {
		Thread worker = Thread.currentThread();
		AtomicInteger interrupted = new AtomicInteger();
		FileLockProvider slow = FileFixture.provider(directory, new Durability() {

			@Override
			void force(Path path) throws IOException {
				if (Thread.currentThread() == worker) {
					interrupted.incrementAndGet();
					throw new ClosedByInterruptException();
				}
				super.force(path);
			}

		});
		Grant grant = FileFixture.grant(slow, this.key, "unit");
		assertThat(slow.complete(grant, "unit")).isEqualTo(Settlement.SETTLED);
		assertThat(interrupted).hasValueGreaterThanOrEqualTo(2);
	}

	@Test
	@DisplayName("F7 a lock does not depend on references of its user")
	void collectorDoesNotFreeTheLock() {
		String nonce = FileFixture.nonce();
		FileFixture.provider(directory).acquire(FileFixture.request(this.key, nonce, null));
		for (int i = 0; i < 3; i++) {
			System.gc();
		}
		assertThat(other.ask("acquire " + this.key)).startsWith("held");
		assertThat(this.provider.release(this.key, nonce, true)).isEqualTo(Settlement.SETTLED);
		assertThat(other.ask("acquire " + this.key)).startsWith("granted");
		assertThat(other.ask("release")).isEqualTo("SETTLED");
	}

	@Test
	@DisplayName("F8 C112 C115 a removed lock file makes the lease LOST, and the next token is higher")
	void removedFileIsNoticed() throws Exception {
		Grant grant = FileFixture.grant(this.provider, this.key, "today");
		Files.delete(FileFixture.files(directory, this.key).lock());
		String answer = other.ask("acquire " + this.key + " today");
		assertThat(answer).startsWith("granted").endsWith("in doubt");
		assertThat(Long.parseLong(answer.split(" ")[1])).isGreaterThan(grant.token());
		Awaitility.await()
			.pollInterval(this.provider.renewalInterval(FileFixture.TTL))
			.until(() -> this.provider.renew(List.of(grant)).equals(List.of(Renewal.LOST)));
		assertThat(FileFixture.acquire(this.provider, this.key)).isInstanceOf(Acquisition.Held.class);
		assertThat(this.provider.complete(grant, "today")).isEqualTo(Settlement.NOT_OWNER);
		assertThat(other.ask("renew")).isEqualTo("RENEWED");
		assertThat(other.ask("complete today")).isEqualTo("SETTLED");
	}

	private void assertDenied(Grant grant) {
		assertThat(other.ask("acquire " + grant.key())).startsWith("held");
		assertThat(this.provider.renew(List.of(grant))).containsExactly(Renewal.RENEWED);
		assertThat(this.provider.release(grant.key(), grant.nonce(), true)).isEqualTo(Settlement.SETTLED);
	}

	private static Path hardLink(Path path) throws IOException {
		return Files.createLink(temporary.resolve("hard-" + keys++), path);
	}

	private static void awaitUninterrupted(CountDownLatch latch) {
		while (latch.getCount() > 0) {
			Thread.onSpinWait();
		}
	}

	private static void join(Thread thread) {
		while (thread.isAlive()) {
			Thread.onSpinWait();
		}
		Thread.interrupted();
	}

	static URLClassLoader isolated() {
		String path = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
		URL[] urls = Stream.of(path.split(System.getProperty("path.separator"))).map((entry) -> {
			try {
				return Path.of(entry).toUri().toURL();
			}
			catch (MalformedURLException ex) {
				throw new IllegalStateException(ex);
			}
		}).toArray(URL[]::new);
		return new URLClassLoader(urls, ClassLoader.getPlatformClassLoader());
	}

	@SuppressWarnings("unchecked")
	static UnaryOperator<String> session(ClassLoader loader, Path directory) throws ReflectiveOperationException {
		var constructor = Arrays.stream(loader.loadClass(FileChild.Session.class.getName()).getDeclaredConstructors())
			.findFirst()
			.orElseThrow();
		constructor.setAccessible(true);
		return (UnaryOperator<String>) constructor.newInstance(directory);
	}

	/**
	 * Code that knows nothing of locks.
	 */
	private interface Foreign {

		Object touch(Path path) throws IOException;

	}

}
