package io.mutex;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.mutex.memory.MemoryLockProvider;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What is called in a {@code synchronized} block. Before JDK 24 whatever waits there
 * keeps the carrier of a virtual thread from all others.
 */
class PinningTests {

	/** What waits for a store, for a network, a disk, a thread, or for foreign code. */
	private static final Pattern WAITING = Pattern
		.compile(String.join("|", "io\\.mutex\\.(LockProvider|TransactionalStore|fence\\.FenceGuard)\\..*",
				"io\\.mutex\\.(MutexListener|LeaseCallback|LeasesCallback)\\..*", "(java|javax)\\.sql\\..*",
				"com\\.zaxxer\\..*", "java\\.(net|nio)\\..*", "java\\.io\\.(File|RandomAccess)\\w*\\..*",
				"org\\.springframework\\.(data|jdbc|beans|context|web)\\..*",
				"java\\.util\\.concurrent\\.(locks|CountDownLatch|Future|CompletableFuture|BlockingQueue).*",
				"java\\.util\\.concurrent\\.\\w*(Executor|Queue)\\w*\\..*", "java\\.lang\\.Thread\\.(sleep|join).*",
				"java\\.lang\\.Object\\.wait.*", "java\\.util\\.function\\.(Supplier|Consumer|Callable)\\..*",
				"java\\.lang\\.Runnable\\.run.*"));

	private static final Predicate<String> waits = WAITING.asMatchPredicate()
		.and((call) -> !call.startsWith("java") || !call.contains(".<init>"));

	@Test
	@DisplayName("C127 no synchronized block of ours waits for a store, a network, a thread or foreign code")
	void noMonitorIsHeldWhileSomethingWaits() throws Exception {
		MonitorRegions regions = new MonitorRegions();
		Path classes = Path.of(LockProvider.class.getProtectionDomain().getCodeSource().getLocation().toURI());
		try (Stream<Path> files = Files.walk(classes.resolve("io/mutex"))) {
			for (Path file : files.filter((each) -> each.toString().endsWith(".class")).toList()) {
				read(regions, file);
			}
		}
		assertThat(regions.size()).isPositive();
		assertThat(regions.calls(waits)).isEmpty();
	}

	private static void read(MonitorRegions regions, Path file) throws IOException {
		try (InputStream bytes = Files.newInputStream(file)) {
			regions.read(bytes);
		}
	}

	@Test
	@DisplayName("C127 such a call is found in a method, in a block, and behind calls and lambdas")
	void suchACallIsFound() throws IOException {
		MonitorRegions regions = new MonitorRegions();
		for (Class<?> type : List.of(Waiting.class, MemoryLockProvider.class)) {
			try (InputStream bytes = type.getResourceAsStream("/" + type.getName().replace('.', '/') + ".class")) {
				assertThat(bytes).isNotNull();
				regions.read(bytes);
			}
		}
		assertThat(regions.calls(waits)).extracting((call) -> call.replaceFirst(".*Waiting\\.(\\w+).*", "$1"))
			.containsExactly("aLambda", "anotherMethod", "inABlock", "inAMethod");
	}

	@SuppressWarnings("unused")
	private abstract static class Waiting {

		abstract LockProvider store();

		synchronized void inAMethod() {
			store().check();
		}

		boolean inABlock(boolean early) {
			synchronized (this) {
				if (early) {
					return true;
				}
				store().check();
			}
			return false;
		}

		synchronized void anotherMethod() {
			outside();
		}

		void outside() {
			synchronized (this) {
				hashCode();
			}
			store().check();
		}

		synchronized void aLambda() {
			List.of("key").forEach((key) -> store().lock(key));
		}

	}

}
