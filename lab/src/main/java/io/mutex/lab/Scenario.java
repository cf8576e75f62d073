package io.mutex.lab;

import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

import io.mutex.lab.Event.Kind;
import io.mutex.testing.CuttingProxy;

/**
 * The faults that can be made to happen, by the names that the documentation gives them.
 */
public enum Scenario {

	P1("a holder is killed", all()) {
		@Override
		void play(Field field) {
			field.kill(field.holder());
		}

		@Override
		long effects(Field field, History history) {
			return Takeover.of(history).size();
		}
	},

	P2("a holder is stopped for two leases, and goes on", all()) {
		@Override
		void play(Field field) {
			int index = field.holder();
			field.fault("P2", () -> field.workers.get(index).pause(), 2 * LEASE,
					() -> field.workers.get(index).resume());
		}

		@Override
		long effects(Field field, History history) {
			return (field.provider == Provider.FILE) ? history.count(Kind.HEALED) : disturbed(history);
		}
	},

	P3("the answers to a worker come after its lease", servers()) {
		@Override
		void play(Field field) {
			CuttingProxy proxy = field.proxies.get(field.holder());
			field.fault("P3", proxy::holdAnswers, LEASE + 500, proxy::pass);
		}
	},

	N1("the store refuses connections", servers()) {
		@Override
		void play(Field field) {
			field.fault("N1", () -> field.proxies.forEach(CuttingProxy::cut), 1500,
					() -> field.proxies.forEach(CuttingProxy::pass));
		}
	},

	N2("an answer is lost with its connection", servers()) {
		@Override
		void play(Field field) {
			CuttingProxy proxy = field.proxies.get(field.holder());
			field.fault("N2", proxy::loseOneAnswer, 200, proxy::pass);
		}

		@Override
		long effects(Field field, History history) {
			return field.hits();
		}
	},

	N4("a holder is cut off for two leases", servers()) {
		@Override
		void play(Field field) {
			CuttingProxy proxy = field.proxies.get(field.holder());
			field.fault("N4", proxy::hold, 2 * LEASE, proxy::pass);
		}
	},

	N5("the store takes requests and answers none", servers()) {
		@Override
		void play(Field field) {
			field.fault("N5", () -> field.proxies.forEach(CuttingProxy::hold), LEASE + 1000,
					() -> field.proxies.forEach(CuttingProxy::pass));
		}
	},

	N7("the requests of a worker, releases too, arrive after its lease", servers()) {
		@Override
		void play(Field field) {
			CuttingProxy proxy = field.proxies.get(field.holder());
			field.fault("N7", () -> proxy.delay(Duration.ofMillis(LEASE + 300)), 2 * LEASE,
					() -> proxy.delay(Duration.ZERO));
		}
	},

	N8("the store is slow by half a lease", servers()) {
		@Override
		void play(Field field) {
			field.fault("N8", () -> field.proxies.forEach((proxy) -> proxy.delay(Duration.ofMillis(LEASE / 2))),
					2 * LEASE, () -> field.proxies.forEach((proxy) -> proxy.delay(Duration.ZERO)));
		}
	},

	R1("Redis is killed and comes back without its data", EnumSet.of(Provider.REDIS)) {
		@Override
		void play(Field field) {
			field.fault("R1", field.server()::kill, 100, field.server()::start);
			field.sleep(2 * LEASE);
		}

		@Override
		Allowance allowance(Provider provider) {
			return Allowance.of(Duration.ofDays(1), "I4", "I5", "I6", "I9");
		}
	},

	R9("Redis is stopped for two leases", EnumSet.of(Provider.REDIS)) {
		@Override
		void play(Field field) {
			field.fault("R9", field.server()::pause, 2 * LEASE, field.server()::resume);
		}
	},

	R12("Redis forgets its scripts", EnumSet.of(Provider.REDIS)) {
		@Override
		void play(Field field) {
			field.fault("R12", () -> field.hit(Admin.flushScripts(field.server())), 100, () -> {
			});
		}

		@Override
		long effects(Field field, History history) {
			return field.hits();
		}
	},

	J4("the database is killed and comes back", databases()) {
		@Override
		void play(Field field) {
			field.fault("J4", field.server()::kill, 500, field.server()::start);
			field.sleep(LEASE);
		}
	},

	J5("the database ends every session", databases()) {
		@Override
		void play(Field field) {
			field.fault("J5", () -> field.hit(Admin.endSessions(field.url())), 300, () -> {
			});
		}

		@Override
		long effects(Field field, History history) {
			return field.hits();
		}
	},

	C1("the clock of a worker is an hour ahead, then behind", all()) {
		@Override
		void play(Field field) {
			for (int hours : new int[] { 1, -1, 0 }) {
				field.fault("C1", () -> field.clock().move(Duration.ofHours(hours)), 1500, () -> {
				});
			}
		}

		@Override
		long effects(Field field, History history) {
			List<Event> asked = history.of(Kind.ACQUIRE);
			long usual = asked.stream()
				.filter((event) -> !event.process().equals("w1"))
				.mapToLong(Scenario::offset)
				.findFirst()
				.orElse(0);
			return asked.stream()
				.filter((event) -> Math.abs(offset(event) - usual) > Duration.ofMinutes(30).toMillis())
				.count();
		}
	},

	C3("the clock of Redis jumps ahead by two minutes", EnumSet.of(Provider.REDIS)) {
		@Override
		void play(Field field) {
			field.hit(1);
			field.fault("C3", () -> field.clock().move(Duration.ofMinutes(2 * field.hits())), 1500, () -> {
			});
		}

		@Override
		Allowance allowance(Provider provider) {
			return Allowance.of(provider.takeover(), "I4", "I5", "I9");
		}
	},

	F10("a worker is killed, stopped or asked to end", EnumSet.of(Provider.FILE)) {
		@Override
		void play(Field field) {
			int index = field.holder();
			switch (field.random.nextInt(3)) {
				case 0 -> field.kill(index);
				case 1 -> field.terminate(index);
				default -> P2.play(field);
			}
		}

		@Override
		long effects(Field field, History history) {
			return Takeover.of(history).size() + history.count(Kind.HEALED);
		}
	},

	SOAK("random faults", all()) {
		@Override
		void play(Field field) {
			List<Scenario> faults = Arrays.stream(values())
				.filter((each) -> each.providers.contains(field.provider))
				.filter((each) -> !EnumSet.of(R1, C1, C3, SOAK).contains(each))
				.toList();
			faults.get(field.random.nextInt(faults.size())).play(field);
		}

		@Override
		long effects(Field field, History history) {
			return Takeover.of(history).size() + history.count(Kind.HEALED);
		}
	};

	private static final long LEASE = Provider.LEASE.toMillis();

	private final String title;

	@SuppressWarnings("ImmutableEnumChecker")
	private final Set<Provider> providers;

	Scenario(String title, Set<Provider> providers) {
		this.title = title;
		this.providers = providers;
	}

	String title() {
		return this.title;
	}

	Set<Provider> providers() {
		return this.providers;
	}

	boolean movesClock() {
		return this == C1 || this == C3;
	}

	/**
	 * Makes the fault happen once.
	 * @param field where
	 */
	abstract void play(Field field);

	/**
	 * How often the fault has taken effect.
	 * @param field where
	 * @param history what was written down
	 * @return the number, 0 for a run that proves nothing
	 */
	long effects(Field field, History history) {
		return disturbed(history);
	}

	Allowance allowance(Provider provider) {
		return Allowance.of(provider.takeover());
	}

	/**
	 * The calls that a fault, or what it left behind for a lease, has hit.
	 * @param history what was written down
	 * @return the number
	 */
	static long disturbed(History history) {
		long calls = 0;
		long open = 0;
		long healed = -Provider.LEASE.toNanos();
		for (Event event : history.events()) {
			switch (event.kind()) {
				case FAULT -> open++;
				case HEALED -> {
					open--;
					healed = event.at();
				}
				case UNKNOWN, LOST, STALE, DOUBTFUL -> {
					if (open > 0 || event.at() - healed < Provider.LEASE.toNanos()) {
						calls++;
					}
				}
				default -> {
				}
			}
		}
		return calls;
	}

	private static long offset(Event asked) {
		return Long.parseLong(asked.detail()) - asked.at() / 1_000_000;
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

}
