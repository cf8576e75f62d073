package io.mutex.lab;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;

import io.mutex.jdbc.JdbcSchema;
import io.mutex.jdbc.JdbcSettings;
import io.mutex.lab.Event.Kind;
import io.mutex.testing.ClockShim;
import io.mutex.testing.CuttingProxy;
import io.mutex.testing.JavaProcess;
import io.mutex.testing.TestServer;
import io.mutex.testing.TestServers;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/**
 * The processes, servers and networks of one run, and what a nemesis can do to them.
 */
final class Field implements AutoCloseable {

	private static final Duration STARTUP = Duration.ofMinutes(2);

	private static final int WORKERS = 3;

	private static final int LOOKS = 100;

	private static final Duration SETTLED = Duration.ofMillis(200);

	final Provider provider;

	final Random random;

	final Path directory;

	final List<JavaProcess> workers = new ArrayList<>();

	final List<CuttingProxy> proxies = new ArrayList<>();

	private final List<String> names = new ArrayList<>();

	private final @Nullable TestServer server;

	private final @Nullable TestServer database;

	private final @Nullable ClockShim clock;

	private final Scenario scenario;

	private final Subject subject;

	private final Recorder recorder;

	private final String url;

	private final long seed;

	private int started;

	private long hits;

	Field(Scenario scenario, Provider provider, Subject subject, long seed, Path directory) throws IOException {
		this.scenario = scenario;
		this.provider = provider;
		this.subject = subject;
		this.seed = seed;
		this.random = new Random(seed);
		this.directory = directory;
		this.recorder = new Recorder(directory, "nemesis");
		this.clock = scenario.movesClock() ? ClockShim.compile() : null;
		this.server = provider.start((scenario == Scenario.C3) ? this.clock : null, scenario == Scenario.R1);
		this.database = (scenario == Scenario.R1) ? TestServers.newPostgres() : null;
		this.url = prepare();
	}

	/**
	 * Starts the workers.
	 */
	void start() {
		for (int index = 0; index < WORKERS; index++) {
			if (this.server != null) {
				this.proxies.add(CuttingProxy.to(this.server.host(), this.server.port()));
			}
			this.workers.add(launch(index));
			this.names.add(name());
		}
		this.workers.forEach((worker) -> worker.awaitLine("READY", STARTUP));
	}

	private String prepare() {
		TestServer data = (this.database != null) ? this.database : this.server;
		if (data == null || data.jdbcUrl().isEmpty()) {
			return "";
		}
		String database = data.newDatabase();
		DriverManagerDataSource dataSource = new DriverManagerDataSource(database);
		JdbcSchema.create(dataSource, JdbcSettings.defaults());
		SqlLedger.prepare(new JdbcTemplate(dataSource), this.provider == Provider.MARIADB, Routine.KEYS);
		return database;
	}

	private JavaProcess launch(int index) {
		this.started++;
		int port = this.proxies.isEmpty() ? 0 : this.proxies.get(index).port();
		String through = (this.server != null && this.database == null)
				? this.url.replace(":" + this.server.port() + "/", ":" + port + "/") : this.url;
		JavaProcess.Builder builder = JavaProcess.of(this.subject.main())
			.jvmArguments("-Xmx160m", "-XX:TieredStopAtLevel=1", "-Xshare:auto");
		Map<String, String> properties = this.provider.properties(this.directory, through, port);
		if (Boolean.getBoolean("lab.split")) {
			properties.put("mutex.namespace", name());
		}
		properties.putAll(this.subject.properties());
		properties.forEach(builder::systemProperty);
		this.subject.classes().forEach(builder::preferClasses);
		builder.systemProperty("lab.unfenced", Boolean.toString(Boolean.getBoolean("lab.unfenced")));
		if (this.clock != null && this.scenario == Scenario.C1 && index == 0) {
			this.clock.environment().forEach(builder::environment);
		}
		return builder.start(name(), this.directory.toString(), Long.toString(this.seed + this.started));
	}

	private String name() {
		return "w" + this.started;
	}

	TestServer server() {
		if (this.server == null) {
			throw new IllegalStateException("There is no server");
		}
		return this.server;
	}

	ClockShim clock() {
		if (this.clock == null) {
			throw new IllegalStateException("The clock cannot be moved");
		}
		return this.clock;
	}

	String url() {
		return this.url;
	}

	/**
	 * One of the workers.
	 * @return its index
	 */
	private int any() {
		return this.random.nextInt(WORKERS);
	}

	/**
	 * A worker that has held a key for some time, and so is in a long hold that a fault
	 * will meet.
	 * @return its index
	 */
	int holder() {
		for (int look = 0; look < LOOKS; look++) {
			Map<String, Event> held = new HashMap<>();
			for (Event event : read(List.of()).events()) {
				switch (event.kind()) {
					case GRANTED -> held.put(event.call(), event);
					case END, LOST -> held.remove(event.call());
					default -> {
					}
				}
			}
			long settled = System.nanoTime() - SETTLED.toNanos();
			for (Event grant : held.values()) {
				int index = this.names.indexOf(grant.process());
				if (index >= 0 && grant.at() < settled) {
					return index;
				}
			}
			sleep(50);
		}
		return any();
	}

	private History read(List<Entry> entries) {
		try {
			return History.read(this.directory, entries);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Makes a fault happen, lets it last, and heals it.
	 * @param name its name
	 * @param begin begins it
	 * @param millis how long it lasts
	 * @param end heals it
	 */
	void fault(String name, Runnable begin, long millis, Runnable end) {
		this.recorder.fault(Kind.FAULT, "nemesis", name);
		begin.run();
		sleep(millis);
		end.run();
		this.recorder.fault(Kind.HEALED, "nemesis", name);
	}

	/**
	 * Kills a worker and starts another in its place.
	 * @param index the worker
	 */
	void kill(int index) {
		// what it grants itself between this line and its death is measured too
		this.recorder.fault(Kind.KILLED, this.names.get(index), "SIGKILL");
		this.workers.get(index).kill();
		replace(index);
	}

	/**
	 * Asks a worker to end and starts another in its place.
	 * @param index the worker
	 */
	void terminate(int index) {
		this.workers.get(index).terminate();
		this.workers.get(index).awaitExit(STARTUP);
		replace(index);
	}

	private void replace(int index) {
		this.workers.get(index).close();
		JavaProcess next = launch(index);
		this.workers.set(index, next);
		this.names.set(index, name());
		next.awaitLine("READY", STARTUP);
	}

	/**
	 * Counts what a fault has hit, where the history cannot tell.
	 * @param count how many
	 */
	void hit(long count) {
		this.hits += count;
	}

	long hits() {
		return this.hits + this.proxies.stream().mapToInt(CuttingProxy::lost).sum();
	}

	void sleep(long millis) {
		LockSupport.parkNanos(millis * 1_000_000);
	}

	/**
	 * Lets the workers finish, and reads what they have written.
	 * @return the history
	 * @throws IOException if it cannot be read
	 */
	History finish() throws IOException {
		this.workers.forEach((worker) -> worker.sendLine("end"));
		this.workers.forEach((worker) -> worker.awaitLine("DONE", STARTUP));
		JavaProcess reader = this.workers.get(0);
		reader.sendLine("entries");
		reader.awaitLine("ENTRIES", STARTUP);
		List<Entry> entries = reader.output().stream().filter((line) -> line.startsWith("ENTRY ")).map((line) -> {
			String[] words = line.split(" ", -1);
			return new Entry(words[1], Long.parseLong(words[2]), Long.parseLong(words[3]), words[4]);
		}).toList();
		Files.write(this.directory.resolve("entries"), entries.stream().map(Entry::toString).toList());
		return read(entries);
	}

	@Override
	public void close() throws IOException {
		this.workers.forEach(JavaProcess::close);
		for (CuttingProxy proxy : this.proxies) {
			proxy.close();
		}
		for (TestServer each : new TestServer[] { this.server, this.database }) {
			if (each != null) {
				each.close();
			}
		}
		if (this.clock != null) {
			this.clock.close();
		}
		this.recorder.close();
	}

}
