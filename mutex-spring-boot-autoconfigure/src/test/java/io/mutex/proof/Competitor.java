package io.mutex.proof;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;

import io.mutex.Acquisition;
import io.mutex.LockRequest;
import io.mutex.engine.EngineSettings;
import io.mutex.engine.LockEngine;
import org.jspecify.annotations.Nullable;

/**
 * A process that wants one key again and again until it is told to end. It then prints
 * when the store refused it because of a holder, and when it was granted the key, by the
 * monotonic clock of the host.
 */
final class Competitor {

	/** How often it has waited when it says so, and goes on. */
	static final int WAITS = 4;

	// so long that whatever happens meanwhile was not caused by a poll
	private static final Duration POLL = Duration.ofSeconds(3);

	private static final long HOLD_NANOS = 20_000_000;

	private final ConcurrentLinkedQueue<String> events = new ConcurrentLinkedQueue<>();

	private int waits;

	private boolean refused;

	private volatile boolean ended;

	private Competitor() {
	}

	public static void main(String[] arguments) throws Exception {
		Store store = Store.valueOf(arguments[0]);
		Competitor competitor = new Competitor();
		EngineSettings settings = new EngineSettings(arguments[3], Duration.ofMinutes(1), null, Duration.ofMinutes(1),
				null, true, POLL, POLL, Duration.ofDays(1));
		LockEngine engine = new LockEngine(Between.on(store.open(arguments[1], arguments[2]), competitor::watch),
				settings, List.of());
		BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
		System.out.println("ready");
		input.readLine();
		Future<?> work = Executors.newSingleThreadExecutor().submit(() -> competitor.compete(engine));
		input.readLine();
		competitor.ended = true;
		work.get();
		competitor.events.forEach(System.out::println);
		System.out.println("ended");
		System.exit(0);
	}

	private void compete(LockEngine engine) {
		LockRequest request = LockRequest.of("key").withWaitFor(Duration.ofMinutes(5));
		while (!this.ended) {
			engine.<Boolean, RuntimeException>execute(request, (lease) -> {
				LockSupport.parkNanos(HOLD_NANOS);
				return true;
			});
		}
	}

	// only the one thread that competes asks for the key
	private @Nullable Object watch(String operation, Callable<@Nullable Object> store) throws Exception {
		Object answer = store.call();
		if (answer instanceof Acquisition.Granted) {
			this.events.add("granted " + System.nanoTime());
			if (this.refused && ++this.waits == WAITS) {
				System.out.println("waited");
			}
			this.refused = false;
		}
		else if (answer instanceof Acquisition.Held held && held.holder() != null) {
			this.events.add("refused " + System.nanoTime());
			this.refused = true;
		}
		return answer;
	}

}
