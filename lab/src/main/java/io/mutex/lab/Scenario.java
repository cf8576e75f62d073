package io.mutex.lab;

import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;

/**
 * The faults that can be made to happen, by the names that the documentation gives them.
 */
public enum Scenario {

	P1("a holder is killed", all(), Place.WORKER, WorkerFaults::kill, Effects::takeovers),

	P2("a holder is stopped for two leases, and goes on", all(), Place.WORKER, WorkerFaults::stop, Effects::stops),

	P3("the answers to a worker come after its lease", servers(), Place.NETWORK, NetworkFaults::lateAnswers,
			Effects::disturbed),

	P5("the garbage collector stops a worker for longer than its lease", servers(), Place.WORKER,
			WorkerFaults::collectGarbage, Effects::hitAndLost),

	N1("the store refuses connections", servers(), Place.NETWORK, NetworkFaults::refuse, Effects::disturbed),

	N2("an answer is lost with its connection", servers(), Place.NETWORK, NetworkFaults::loseAnswer, Effects::hits),

	N3("connections are reset before they have brought the answers, and what was sent is sent again", servers(),
			Place.NETWORK, NetworkFaults::reset, Effects::hits),

	N4("a holder is cut off for two leases", servers(), Place.NETWORK, NetworkFaults::cutOff, Effects::lost),

	N5("the store takes requests and answers none", servers(), Place.NETWORK, NetworkFaults::swallow,
			Effects::disturbed),

	N6("the requests of a holder arrive, and the answers never", servers(), Place.NETWORK, NetworkFaults::oneWay,
			Effects::lost),

	N7("the requests of a worker, releases too, arrive after its lease", servers(), Place.NETWORK,
			NetworkFaults::lateRequests, Effects::disturbed),

	N8("the store is slow by half a lease", servers(), Place.NETWORK, NetworkFaults::slow, Effects::disturbed),

	R1("Redis is killed and comes back without its data", redis(), Place.SERVER, RedisFaults::forget,
			Effects::disturbed, "I4", "I5", "I6", "I9"),

	R5("Redis evicts what may end by itself", redis(), Place.SERVER, RedisFaults::evict, Effects::hits, "I4", "I5",
			"I6", "I9"),

	R6("the memory of Redis is full", redis(), Place.SERVER, RedisFaults::fill, Effects::memoryFull),

	R7("Redis is killed and comes back with an old snapshot", redis(), Place.SERVER, RedisFaults::rollBack,
			Effects::disturbed, "I4", "I5", "I6", "I9"),

	R9("Redis is stopped for two leases", redis(), Place.SERVER, RedisFaults::stop, Effects::disturbed),

	R12("Redis forgets its scripts", redis(), Place.SERVER, RedisFaults::flushScripts, Effects::hits),

	J3("the database cannot flush its log, and falls", EnumSet.of(Provider.POSTGRESQL), Place.SERVER,
			DatabaseFaults::failFlush, Effects::hitAndDisturbed),

	J4("the database is killed and comes back", databases(), Place.SERVER, DatabaseFaults::kill, Effects::disturbed),

	J5("the database ends every session", databases(), Place.SERVER, DatabaseFaults::endSessions, Effects::hits),

	J6("somebody's transaction keeps the rows of the locks", databases(), Place.SERVER, DatabaseFaults::lockRows,
			Effects::bounded),

	J15("the disk of the database is full", EnumSet.of(Provider.POSTGRESQL), Place.SERVER, DatabaseFaults::fillDisk,
			Effects::hitAndDisturbed),

	C1("the clock of a worker is an hour ahead, then behind", all(), Place.CLOCK, ClockFaults::moveWorker,
			Effects::movedWorkers),

	C3("the clock of Redis jumps ahead by two minutes, or back by an hour", redis(), Place.SERVER,
			ClockFaults::moveServer, Effects::hits, "I4", "I5", "I9"),

	C4("the clock of the database jumps ahead by two minutes, or back by an hour", databases(), Place.SERVER,
			ClockFaults::moveServer, Effects::hits, "I4", "I5", "I9"),

	C5("the wall clock of a holder jumps, its monotonic clock does not", servers(), Place.CLOCK, ClockFaults::suspend,
			Effects::lostByClock),

	C7("the clocks of a holder run slow by one percent, and it is cut off", servers(), Place.NETWORK,
			ClockFaults::cutOffDrifting, Effects::hitAndLost),

	C7_FAR("the clocks of a holder run slow by a quarter, and it is cut off", servers(), Place.NETWORK,
			ClockFaults::cutOffDrifting, Effects::overlaps, "I4"),

	F8("the lock file of a stopped holder is removed", EnumSet.of(Provider.FILE), Place.WORKER,
			WorkerFaults::removeLockFiles, Effects::lost, "I4", "I5", "I9"),

	F10("a worker is killed, asked to end, and stopped", EnumSet.of(Provider.FILE), Place.WORKER, WorkerFaults::each,
			Effects::takeoversStopsAndEnds),

	SOAK("random faults, also two at a time", all(), Place.ALL, Soak::play, Effects::everything);

	private final String title;

	@SuppressWarnings("ImmutableEnumChecker")
	private final Set<Provider> providers;

	private final Place place;

	@SuppressWarnings("ImmutableEnumChecker")
	private final Fault fault;

	@SuppressWarnings("ImmutableEnumChecker")
	private final Effect effect;

	@SuppressWarnings("ImmutableEnumChecker")
	private final Set<String> lifted;

	Scenario(String title, Set<Provider> providers, Place place, Fault fault, Effect effect, String... lifted) {
		this.title = title;
		this.providers = providers;
		this.place = place;
		this.fault = fault;
		this.effect = effect;
		this.lifted = Set.of(lifted);
	}

	String title() {
		return this.title;
	}

	public Set<Provider> providers() {
		return this.providers;
	}

	Place place() {
		return this.place;
	}

	/**
	 * The invariants that the fault lifts while it is at work.
	 * @return their names
	 */
	Set<String> lifted() {
		return this.lifted;
	}

	/**
	 * How long the fault is felt after it has been healed. A removed lock file is noticed
	 * within a second, to which another one is added for a loaded machine.
	 * @param provider where the locks are
	 * @return the time
	 */
	Duration aftermath(Provider provider) {
		return (this == F8) ? Duration.ofSeconds(1 + 1) : provider.aftermath();
	}

	/**
	 * Makes the fault happen once.
	 * @param field where
	 */
	void play(Field field) {
		this.fault.play(field);
	}

	/**
	 * How often the fault has taken effect.
	 * @param field where
	 * @param history what was written down
	 * @return the number, 0 for a run that proves nothing
	 */
	long effects(Field field, History history) {
		return this.effect.count(field, history);
	}

	Allowance allowance(Provider provider, History history) {
		return new Allowance(provider.takeover(), Window.of(history, provider));
	}

	private static Set<Provider> all() {
		return EnumSet.allOf(Provider.class);
	}

	private static Set<Provider> servers() {
		return EnumSet.complementOf(EnumSet.of(Provider.FILE));
	}

	private static Set<Provider> databases() {
		return EnumSet.of(Provider.POSTGRESQL, Provider.MARIADB);
	}

	private static Set<Provider> redis() {
		return EnumSet.of(Provider.REDIS);
	}

	/**
	 * Makes a fault happen.
	 */
	@FunctionalInterface
	interface Fault {

		void play(Field field);

	}

	/**
	 * Counts what a fault has hit.
	 */
	@FunctionalInterface
	interface Effect {

		long count(Field field, History history);

	}

}
