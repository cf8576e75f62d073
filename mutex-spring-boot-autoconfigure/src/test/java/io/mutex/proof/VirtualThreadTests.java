package io.mutex.proof;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import io.mutex.LockProvider;
import io.mutex.LockRequest;
import io.mutex.engine.EngineSettings;
import io.mutex.engine.LockEngine;
import io.mutex.memory.MemoryLockProvider;
import io.mutex.testing.CuttingProxy;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.core.task.SimpleAsyncTaskExecutor;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Many virtual threads at a slow store: while one waits for it, its carrier is free for
 * others.
 */
@Tag("compatibility")
@EnabledForJreRange(min = JRE.JAVA_21)
class VirtualThreadTests {

	private static final String PINNED = "jdk.VirtualThreadPinned";

	// more than there are carriers anywhere, and fewer than keys
	private static final int AT_ONCE = 150;

	@TempDir
	Path directory;

	private final SimpleAsyncTaskExecutor threads = new SimpleAsyncTaskExecutor("virtual-");

	private final Recording recording = new Recording();

	@BeforeEach
	void start() {
		this.threads.setVirtualThreads(true);
		this.recording.enable(PINNED).withoutThreshold().withStackTrace();
	}

	@AfterEach
	void stop() {
		this.recording.close();
	}

	@Test
	@DisplayName("C127 a thousand virtual threads wait at a slow store together, and none keeps its carrier")
	void carriersAreFreeWhileTheStoreIsWaitedFor() throws Exception {
		CountDownLatch together = new CountDownLatch(AT_ONCE);
		LockProvider store = Between.on(new MemoryLockProvider(), (operation, call) -> {
			if (operation.equals("acquire") && together.getCount() > 0) {
				together.countDown();
				assertThat(together.await(1, TimeUnit.MINUTES)).isTrue();
			}
			return call.call();
		});
		try (LockEngine engine = engine(store); LockEngine first = engine(new MemoryLockProvider())) {
			use(first);
			this.recording.start();
			List<Future<Boolean>> runs = runAll(engine, 1000, 200);
			assertThat(together.await(1, TimeUnit.MINUTES)).as("%d are missing", together.getCount()).isTrue();
			for (Future<Boolean> run : runs) {
				assertThat(run.get(1, TimeUnit.MINUTES)).isTrue();
			}
			assertThat(pinned()).isEmpty();
		}
	}

	@ParameterizedTest
	@EnumSource(names = { "POSTGRESQL", "REDIS" })
	@DisplayName("C127 no virtual thread keeps its carrier while the answer of a real store is on its way")
	void carriersAreFreeWhileARealStoreIsWaitedFor(Store store) throws Exception {
		String address = store.prepare(this.directory);
		int colon = address.indexOf(':', address.lastIndexOf('@') + address.lastIndexOf("//") + 1);
		int port = Integer.parseInt(address.substring(colon + 1).replaceFirst("\\D.*", ""));
		try (CuttingProxy slow = CuttingProxy.to("127.0.0.1", port);
				LockProvider provider = store.open(address.replace(":" + port, ":" + slow.port()),
						"virtual-" + UUID.randomUUID());
				LockEngine engine = engine(provider)) {
			use(engine);
			slow.delay(Duration.ofMillis(10));
			this.recording.start();
			for (Future<Boolean> run : runAll(engine, 200, 40)) {
				assertThat(run.get(2, TimeUnit.MINUTES)).isTrue();
			}
			assertThat(pinned()).isEmpty();
		}
	}

	@Test
	@DisplayName("C127 a virtual thread that keeps its carrier is reported")
	void pinnedThreadIsReported() throws Exception {
		this.recording.start();
		this.threads.submit(Pinning::touch).get(1, TimeUnit.MINUTES);
		assertThat(pinned()).isNotEmpty().allSatisfy((event) -> assertThat(event).contains(Pinning.class.getName()));
	}

	private static LockEngine engine(LockProvider provider) {
		return new LockEngine(provider, EngineSettings.defaults("virtual"), List.of());
	}

	// what is initialized at first use is initialized by native code
	private void use(LockEngine engine) throws Exception {
		for (Future<Boolean> run : runAll(engine, 20, 2)) {
			assertThat(run.get(1, TimeUnit.MINUTES)).isTrue();
		}
	}

	private List<Future<Boolean>> runAll(LockEngine engine, int threads, int keys) {
		int[] holders = new int[keys];
		List<Future<Boolean>> runs = new ArrayList<>();
		for (int i = 0; i < threads; i++) {
			int key = i % keys;
			LockRequest request = LockRequest.of("key-" + key).withWaitFor(Duration.ofMinutes(2));
			runs.add(this.threads.submit(() -> engine.execute(request, (lease) -> {
				holders[key]++;
				boolean alone = holders[key] == 1;
				Thread.sleep(1);
				holders[key]--;
				return alone;
			})));
		}
		return runs;
	}

	// the stacks in which a package of ours has a part, but for the loading of a class
	private List<String> pinned() throws IOException {
		Path file = this.directory.resolve("pinned.jfr");
		this.recording.stop();
		this.recording.dump(file);
		return RecordingFile.readAllEvents(file)
			.stream()
			.filter((event) -> event.getEventType().getName().equals(PINNED))
			.map(RecordedEvent::toString)
			.filter((event) -> event.contains("io.mutex.") && !event.contains(".loadClass("))
			.toList();
	}

	/** Waits while it is loaded, below native code. */
	private static final class Pinning {

		static {
			try {
				Thread.sleep(50);
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		}

		private Pinning() {
		}

		static void touch() {
			// loads the class
		}

	}

}
