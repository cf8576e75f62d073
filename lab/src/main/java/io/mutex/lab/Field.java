package io.mutex.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

import io.mutex.jdbc.JdbcSchema;
import io.mutex.jdbc.JdbcSettings;
import io.mutex.lab.Event.Kind;
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

	/** The name of the process that makes the faults happen. */
	static final String NEMESIS = "nemesis";

	private static final Duration STARTUP = Duration.ofMinutes(5);

	private static final int WORKERS = 3;

	private static final int LOOKS = 100;

	// the guarded data is elsewhere
	private static final Set<Scenario> FORGETFUL = EnumSet.of(Scenario.R1, Scenario.R7, Scenario.SOAK);

	private static final Duration STAYING = Duration.ofMillis(800);

	final Scenario scenario;

	final Provider provider;

	/** What the faults draw from, several at a time. */
	final Random random;

	/** What the order of the faults is drawn from. */
	final Random schedule;

	final Path directory;

	final Clocks clocks;

	final List<JavaProcess> workers = new CopyOnWriteArrayList<>();

	final List<CuttingProxy> proxies = new ArrayList<>();

	private final List<String> names = new CopyOnWriteArrayList<>();

	private final @Nullable TestServer server;

	private final @Nullable TestServer data;

	private final @Nullable SmallDisk disk;

	private final Subject subject;

	private final Recorder recorder;

	private final Holders holders;

	private final String url;

	private final long seed;

	private int started;

	private final AtomicLong hits = new AtomicLong();

	Field(Scenario scenario, Provider provider, Subject subject, long seed, Path directory) throws IOException {
		this.scenario = scenario;
		this.provider = provider;
		this.subject = subject;
		this.seed = seed;
		this.random = new Random(seed);
		this.schedule = new Random(~seed);
		this.directory = directory;
		this.clocks = new Clocks(scenario);
		this.recorder = new Recorder(directory, NEMESIS);
		this.holders = new Holders(directory, this.clocks::onTrueTime);
		boolean forgetful = provider == Provider.REDIS && FORGETFUL.contains(scenario);
		this.server = provider.start(this.clocks.serverIfAny(), forgetful ? new String[] { "--appendonly", "no" }
				: (scenario == Scenario.J3) ? new String[] { "fsync=on" } : new String[0]);
		this.disk = (scenario == Scenario.J15) ? SmallDisk.mount(directory) : null;
		this.data = forgetful ? ((scenario == Scenario.SOAK) ? TestServers.newRedis() : TestServers.newPostgres())
				: null;
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
		TestServer data = (this.data != null) ? this.data : this.server;
		if (data == null || data.jdbcUrl().isEmpty()) {
			return "";
		}
		String database = data.newDatabase();
		if (this.disk != null) {
			JdbcTemplate administrator = new JdbcTemplate(new DriverManagerDataSource(data.jdbcUrl()));
			administrator.execute("CREATE TABLESPACE small LOCATION '" + this.disk.directory() + "'");
			String name = database.replaceFirst(".*/(\\w+)\\?.*", "$1");
			administrator.execute("ALTER DATABASE " + name + " SET TABLESPACE small");
		}
		DriverManagerDataSource dataSource = new DriverManagerDataSource(database);
		JdbcSchema.create(dataSource, JdbcSettings.defaults());
		SqlLedger.prepare(new JdbcTemplate(dataSource), this.provider == Provider.MARIADB, Routine.KEYS);
		return database;
	}

	private JavaProcess launch(int index) {
		this.started++;
		int port = this.proxies.isEmpty() ? 0 : this.proxies.get(index).port();
		String through = (this.server != null && this.data == null)
				? this.url.replace(":" + this.server.port() + "/", ":" + port + "/") : this.url;
		JavaProcess.Builder builder = JavaProcess.of(this.subject.main())
			.jvmArguments("-Xmx160m", "-XX:TieredStopAtLevel=1", "-Xshare:auto");
		Map<String, String> properties = this.provider.properties(this.directory, through, port);
		properties.putAll(this.subject.properties());
		properties.forEach(builder::systemProperty);
		this.subject.classes().forEach(builder::preferClasses);
		if (this.data != null && this.url.isEmpty()) {
			builder.systemProperty("lab.data", Integer.toString(this.data.port()));
		}
		if (this.scenario == Scenario.P5 && index == 0) {
			builder.jvmArguments("-Xmx1600m").systemProperty("lab.ballast", "30000000");
		}
		if (index == 0) {
			this.clocks.give(builder, name());
		}
		return builder.start(name(), this.directory.toString(), Long.toString(this.seed + this.started));
	}

	private String name() {
		return "w" + this.started;
	}

	TestServer server() {
		return present(this.server);
	}

	static <T> T present(@Nullable T part) {
		if (part == null) {
			throw new IllegalStateException("The scenario has no such server, disk or clock");
		}
		return part;
	}

	/**
	 * The name of a worker, by which the history knows it.
	 * @param index the worker
	 * @return the name
	 */
	String name(int index) {
		return this.names.get(index);
	}

	SmallDisk disk() {
		return present(this.disk);
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
	 * A worker that stays between a read and its write for so long that a fault will meet
	 * it there.
	 * @return its index
	 */
	int holder() {
		return this.names.indexOf(holder(this.names, STAYING).orElseGet(() -> name(any())));
	}

	/**
	 * Waits until one of some workers is between a read and its write.
	 * @param names the names of the workers
	 * @param staying how much longer it is to stay there
	 * @return its name, empty if there is none for long
	 */
	Optional<String> holder(List<String> names, Duration staying) {
		for (int look = 0; look < LOOKS; look++) {
			Optional<String> holder = this.holders.find(names, staying.toNanos());
			if (holder.isPresent()) {
				return holder;
			}
			sleep(50);
		}
		return Optional.empty();
	}

	/**
	 * Makes a fault happen, lets it last, and heals it.
	 * @param name its name
	 * @param begin begins it
	 * @param millis how long it lasts
	 * @param end heals it
	 */
	void fault(String name, Runnable begin, long millis, Runnable end) {
		fault(name, NEMESIS, begin, millis, end);
	}

	/**
	 * Makes a fault happen to a worker, lets it last, and heals it.
	 * @param name its name
	 * @param victim the name of the worker
	 * @param begin begins it
	 * @param millis how long it lasts
	 * @param end heals it
	 */
	void fault(String name, String victim, Runnable begin, long millis, Runnable end) {
		this.recorder.fault(Kind.FAULT, victim, name);
		begin.run();
		sleep(millis);
		end.run();
		this.recorder.fault(Kind.HEALED, victim, name);
	}

	/**
	 * Kills a worker and starts another in its place.
	 * @param index the worker
	 */
	void kill(int index) {
		requireAlive(this.workers.get(index));
		long begun = System.nanoTime();
		this.workers.get(index).kill();
		this.recorder.fault(Kind.KILLED, name(index), Long.toString(begun));
		replace(index);
	}

	/**
	 * Asks a worker to end and starts another in its place.
	 * @param index the worker
	 */
	void terminate(int index) {
		this.workers.get(index).terminate();
		this.workers.get(index).awaitExit(STARTUP);
		requireAlive(this.workers.get(index));
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
	 * Lets a worker collect its garbage.
	 * @param index the worker
	 * @return how long it stood still, in milliseconds
	 */
	long collectGarbage(int index) {
		this.workers.get(index).sendLine("gc");
		String line = this.workers.get(index).awaitLine("PAUSE ", STARTUP);
		return Long.parseLong(line.substring("PAUSE ".length()));
	}

	// what the history does not tell
	void hit(long count) {
		this.hits.addAndGet(count);
	}

	long hits() {
		return this.hits.get() + this.proxies.stream().mapToInt(CuttingProxy::lost).sum();
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
		this.workers.forEach(Field::requireAlive);
		JavaProcess reader = this.workers.get(0);
		reader.sendLine("entries");
		reader.awaitLine("ENTRIES", STARTUP);
		List<Entry> entries = reader.output().stream().filter((line) -> line.startsWith("ENTRY ")).map((line) -> {
			String[] words = line.split(" ", -1);
			return new Entry(words[1], Long.parseLong(words[2]), Long.parseLong(words[3]), words[4]);
		}).toList();
		Files.write(this.directory.resolve("entries"), entries.stream().map(Entry::toString).toList());
		return history(entries);
	}

	/**
	 * What was written down until now.
	 * @param entries the log of the guarded data
	 * @return the history
	 * @throws IOException if it cannot be read
	 */
	History history(List<Entry> entries) throws IOException {
		List<Event> events = History.read(this.directory, entries).events();
		return new History(events.stream().map(this.clocks::onTrueTime).toList(), entries);
	}

	// a worker of which a thread has died has not seen all faults
	private static void requireAlive(JavaProcess worker) {
		worker.output().stream().filter((line) -> line.startsWith("DIED ")).findFirst().ifPresent((line) -> {
			throw new IllegalStateException("a thread of a worker has died: " + line);
		});
	}

	@Override
	public void close() throws IOException {
		this.workers.forEach(JavaProcess::close);
		for (CuttingProxy proxy : this.proxies) {
			proxy.close();
		}
		for (TestServer each : new TestServer[] { this.server, this.data }) {
			if (each != null) {
				each.close();
			}
		}
		if (this.disk != null) {
			this.disk.close();
		}
		this.clocks.close();
		this.recorder.close();
	}

}
