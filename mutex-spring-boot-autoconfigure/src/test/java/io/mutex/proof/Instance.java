package io.mutex.proof;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

import io.mutex.Lease;
import io.mutex.LockProvider;
import io.mutex.LockRequest;
import io.mutex.MutexListener;
import io.mutex.engine.EngineSettings;
import io.mutex.engine.LockEngine;
import io.mutex.run.RunUnit;
import io.mutex.testing.JavaProcess;
import org.jspecify.annotations.Nullable;

/**
 * A process that is one instance of an application. It does what it is told on standard
 * input, and stops at the point of a run that it was told to die at.
 */
final class Instance {

	/** How a halted process exits. */
	static final int HALTED = 9;

	private static final Duration STARTUP = Duration.ofMinutes(2);

	private final String name;

	private final Map<Store, LockEngine> engines = new ConcurrentHashMap<>();

	private final Map<String, CountDownLatch> stopped = new ConcurrentHashMap<>();

	private final ThreadLocal<Task> current = new ThreadLocal<>();

	private Instance(String name) {
		this.name = name;
	}

	public static void main(String[] arguments) throws IOException {
		Instance instance = new Instance(arguments[0]);
		BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
		System.out.println("ready");
		for (String line = input.readLine(); line != null; line = input.readLine()) {
			instance.carryOut(line.split(" "));
		}
		System.exit(0);
	}

	/**
	 * Starts an instance.
	 * @param name its name
	 * @return the process, ready for commands
	 */
	static JavaProcess start(String name) {
		JavaProcess process = launch(name);
		process.awaitLine("ready", STARTUP);
		return process;
	}

	/**
	 * Starts an instance, and does not wait for it.
	 * @param name its name
	 * @return the process
	 */
	static JavaProcess launch(String name) {
		return JavaProcess.of(Instance.class)
			.jvmArguments("-Xmx128m", "-XX:TieredStopAtLevel=1", "-Xshare:auto")
			.start(name);
	}

	static void open(JavaProcess process, Store store, String address, String namespace) {
		process.sendLine(String.join(" ", "open", store.name(), address, namespace));
		process.awaitLine("opened " + store, STARTUP);
	}

	private void carryOut(String[] words) {
		switch (words[0]) {
			case "open" -> open(Store.valueOf(words[1]), words[2], words[3]);
			case "run" -> start(Task.parse(words));
			case "go" -> Objects.requireNonNull(this.stopped.get(words[1])).countDown();
			case "halt" -> Runtime.getRuntime().halt(HALTED);
			case "drain" -> {
				Objects.requireNonNull(this.engines.get(Store.valueOf(words[1]))).drain(Duration.ofMillis(100));
				System.out.println("drained");
			}
			default -> throw new IllegalArgumentException(words[0]);
		}
	}

	private void open(Store store, String address, String namespace) {
		LockProvider provider = store.open(address, namespace);
		provider.check();
		this.engines.put(store, new LockEngine(Between.on(provider, this::stopAround),
				EngineSettings.defaults(this.name), List.of(new Granted())));
		System.out.println("opened " + store);
	}

	private @Nullable Object stopAround(String operation, Callable<@Nullable Object> store) throws Exception {
		for (Point point : Point.values()) {
			if (point.isBefore(operation)) {
				pass(point);
			}
		}
		Object answer = store.call();
		for (Point point : Point.values()) {
			if (point.isAfter(operation)) {
				pass(point);
			}
		}
		return answer;
	}

	private void start(Task task) {
		this.stopped.put(task.id(), new CountDownLatch(1));
		Thread thread = new Thread(() -> run(task), task.id());
		thread.setDaemon(true);
		thread.start();
	}

	private void run(Task task) {
		this.current.set(task);
		String outcome;
		try {
			while (System.currentTimeMillis() < task.at()) {
				LockSupport.parkUntil(task.at());
			}
			LockEngine engine = Objects.requireNonNull(this.engines.get(task.store()));
			outcome = engine.singleRun(request(task), (lease) -> body(task)).outcome().name();
			pass(Point.RETURNED);
		}
		catch (Exception ex) {
			outcome = ex.getClass().getSimpleName();
			pass(Point.THROWN);
		}
		System.out.println("ended " + task.id() + " " + outcome);
	}

	private LockRequest request(Task task) {
		LockRequest request = LockRequest.of(task.key())
			.withUnit(RunUnit.of(task.unit()))
			.withLease(task.lease())
			.withSkipInDoubt(task.skipInDoubt());
		return task.point().isOfUnless() ? request.withUnless(() -> {
			pass(Point.IN_UNLESS);
			return true;
		}) : request;
	}

	private Void body(Task task) throws IOException {
		Path inside = task.effects().resolve(task.key() + ".inside");
		try {
			Files.createFile(inside);
		}
		catch (FileAlreadyExistsException ex) {
			System.out.println("overlap " + task.id());
		}
		System.out.println("body " + task.id());
		pass(Point.BEFORE_EFFECT);
		if (task.point().isOfFailure()) {
			Files.deleteIfExists(inside);
			throw new IllegalStateException("failed on purpose");
		}
		effect(task.effects(), task.key(), task.unit(), this.name);
		LockSupport.parkNanos(task.body().toNanos());
		pass(Point.AFTER_EFFECT);
		Files.deleteIfExists(inside);
		return null;
	}

	/** One short append to a file is one step, and outlives the process. */
	static void effect(Path directory, String key, String unit, String instance) {
		try {
			Files.writeString(directory.resolve(key), unit + " " + instance + "\n", StandardOpenOption.CREATE,
					StandardOpenOption.APPEND);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private void pass(Point point) {
		Task task = this.current.get();
		if (task == null || task.point() != point) {
			return;
		}
		if (task.halts()) {
			Runtime.getRuntime().halt(HALTED);
		}
		System.out.println("at " + task.id());
		try {
			Objects.requireNonNull(this.stopped.get(task.id())).await();
		}
		catch (InterruptedException ex) {
			// as work that takes no notice of it
			System.out.println("interrupted " + task.id());
		}
	}

	/**
	 * What a process is told to do.
	 *
	 * @param id names the call
	 * @param store on which store
	 * @param key the key
	 * @param unit the unit
	 * @param skipInDoubt the policy
	 * @param point where to stop
	 * @param halts whether the process halts there by itself; else it waits there
	 * @param lease the length of the lease
	 * @param body how long the body takes
	 * @param at when to begin, in milliseconds since 1970
	 * @param effects the directory of effects
	 */
	record Task(String id, Store store, String key, String unit, boolean skipInDoubt, Point point, boolean halts,
			Duration lease, Duration body, long at, Path effects) {

		static Task of(Store store, String key, String unit, Path effects) {
			return new Task(key, store, key, unit, false, Point.NONE, false, Duration.ofSeconds(4), Duration.ZERO, 0,
					effects);
		}

		static Task parse(String[] words) {
			return new Task(words[1], Store.valueOf(words[2]), words[3], words[4], Boolean.parseBoolean(words[5]),
					Point.valueOf(words[6]), Boolean.parseBoolean(words[7]), Duration.parse(words[8]),
					Duration.parse(words[9]), Long.parseLong(words[10]), Path.of(words[11]));
		}

		Task withId(String id) {
			return new Task(id, this.store, this.key, this.unit, this.skipInDoubt, this.point, this.halts, this.lease,
					this.body, this.at, this.effects);
		}

		Task withSkipInDoubt(boolean skipInDoubt) {
			return new Task(this.id, this.store, this.key, this.unit, skipInDoubt, this.point, this.halts, this.lease,
					this.body, this.at, this.effects);
		}

		Task stoppingAt(Point point, boolean halts) {
			return new Task(this.id, this.store, this.key, this.unit, this.skipInDoubt, point, halts, this.lease,
					this.body, this.at, this.effects);
		}

		Task withLease(Duration lease) {
			return new Task(this.id, this.store, this.key, this.unit, this.skipInDoubt, this.point, this.halts, lease,
					this.body, this.at, this.effects);
		}

		Task withBody(Duration body) {
			return new Task(this.id, this.store, this.key, this.unit, this.skipInDoubt, this.point, this.halts,
					this.lease, body, this.at, this.effects);
		}

		Task at(long at) {
			return new Task(this.id, this.store, this.key, this.unit, this.skipInDoubt, this.point, this.halts,
					this.lease, this.body, at, this.effects);
		}

		@Override
		public String toString() {
			return String.join(" ", "run", this.id, this.store.name(), this.key, this.unit,
					Boolean.toString(this.skipInDoubt), this.point.name(), Boolean.toString(this.halts),
					this.lease.toString(), this.body.toString(), Long.toString(this.at), this.effects.toString());
		}

	}

	private final class Granted implements MutexListener {

		@Override
		public void granted(Lease lease) {
			pass(Point.GRANTED);
		}

	}

}
