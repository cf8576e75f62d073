package io.mutex.lab;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;

import io.mutex.lab.Event.Kind;
import org.jspecify.annotations.Nullable;

/**
 * Finds the invariants that a history breaks, in O(n log n). Each rule concludes only
 * from what the history proves: an event that was written before the invocation of
 * another one happened before it.
 */
final class Checker {

	private final History history;

	private final Map<String, List<Event>> calls;

	private final List<Violation> violations = new ArrayList<>();

	private Checker(History history) {
		this.history = history;
		this.calls = history.calls();
	}

	/**
	 * Checks a history.
	 * @param history the history
	 * @param allowance what its faults allow
	 * @return the violations, the earliest first
	 */
	static List<Violation> check(History history, Allowance allowance) {
		Checker checker = new Checker(history);
		checker.tokens();
		checker.guard();
		checker.updates();
		checker.intervals();
		checker.unchanged("I5", Kind.FOREIGN);
		checker.records();
		checker.bodies();
		checker.unchanged("I9", Kind.LISTED);
		for (Takeover takeover : Takeover.of(history)) {
			if (takeover.nanos() > allowance.takeover().toNanos()) {
				checker.add("I8", takeover.key(), takeover.from(), takeover.to(), "the next grant came after "
						+ takeover.nanos() / 1_000_000 + " ms, but within " + allowance.takeover() + " was promised");
			}
		}
		for (Takeover vain : Takeover.inVain(history)) {
			checker.add("I8", vain.key(), vain.from(), vain.to(),
					"nobody held the key for " + vain.nanos() / 1_000_000 + " ms, and who asked for it did not get it");
		}
		return checker.violations.stream()
			.filter((violation) -> !allowance.allows(violation))
			.sorted(Comparator.comparingLong(Violation::from))
			.toList();
	}

	// I1: unique, and ordered in real time
	private void tokens() {
		byKey(Kind.GRANTED).forEach((key, grants) -> {
			Map<Long, Event> seen = new HashMap<>();
			for (Event grant : grants) {
				Event twin = seen.putIfAbsent(grant.token(), grant);
				if (twin != null) {
					add("I1", key, twin.at(), grant.at(), "token " + grant.token() + " was granted twice");
				}
			}
			List<Event> invoked = grants.stream().sorted(Comparator.comparingLong(this::invoked)).toList();
			long highest = 0;
			int next = 0;
			for (Event grant : invoked) {
				while (grants.get(next).at() < invoked(grant)) {
					highest = Math.max(highest, grants.get(next++).token());
				}
				if (grant.token() < highest) {
					add("I1", key, invoked(grant), grant.at(),
							"token " + grant.token() + " was asked for after token " + highest + " had been granted");
				}
			}
		});
	}

	// I2: after the registration, which precedes the body, no earlier grant writes
	private void guard() {
		Map<String, List<Event>> granted = byKey(Kind.GRANTED);
		accepted().forEach((key, writes) -> {
			List<Event> grants = granted.getOrDefault(key, List.of());
			long highest = 0;
			int next = 0;
			for (Event write : writes) {
				while (next < grants.size() && grants.get(next).at() < write.at()) {
					highest = Math.max(highest, grants.get(next++).token());
				}
				if (write.token() < highest) {
					add("I2", key, write.at(), write.at(),
							"a write with token " + write.token() + " was accepted after token " + highest);
				}
			}
		});
		Map<String, Entry> last = new HashMap<>();
		for (Entry entry : this.history.entries()) {
			Entry before = last.put(entry.key(), entry);
			if (before != null && (entry.token() < before.token()
					|| (entry.token() == before.token() && !entry.nonce().equals(before.nonce())))) {
				long at = written(entry);
				add("I2", entry.key(), at, at, "the data holds a write with token " + entry.token() + " after one of "
						+ before.token() + " of another grant");
			}
		}
	}

	// by key the beginnings, in the order of time, of the writes that were acknowledged
	// or
	// are in the data
	private Map<String, List<Event>> accepted() {
		Set<Event> accepted = new HashSet<>();
		this.history.of(Kind.WROTE).forEach((wrote) -> accepted.add(before(wrote, Kind.WRITE)));
		Map<String, Event> sent = new HashMap<>();
		this.history.of(Kind.WRITE).forEach((write) -> sent.put(write.written(), write));
		this.history.entries()
			.stream()
			.map((entry) -> sent.get(entry.written()))
			.filter(Objects::nonNull)
			.forEach(accepted::add);
		return new History(List.copyOf(accepted), List.of()).by(Event::key);
	}

	// I3: each write has read the one before it, and none that was acknowledged is
	// missing
	private void updates() {
		Map<String, Long> last = new HashMap<>();
		Set<String> kept = new HashSet<>();
		for (Entry entry : this.history.entries()) {
			long expected = last.merge(entry.key(), 1L, Long::sum);
			if (entry.number() != expected) {
				long at = written(entry);
				add("I3", entry.key(), at, at, "write " + expected + " has number " + entry.number());
				last.put(entry.key(), entry.number());
			}
			kept.add(entry.written());
		}
		for (Event event : this.history.events()) {
			boolean present = kept.contains(event.written());
			if (event.kind() == Kind.WROTE && !present) {
				add("I3", event.key(), event.at(), event.at(), "an acknowledged write is missing");
			}
			if (event.kind() == Kind.STALE && present) {
				add("I3", event.key(), event.at(), event.at(), "a refused write is in the data");
			}
		}
	}

	// I4: from the first to the last moment at which the holder thought so
	private void intervals() {
		Map<String, List<Interval>> intervals = new TreeMap<>();
		this.calls.values().forEach((call) -> {
			Event grant = first(call, Kind.GRANTED);
			List<Event> valid = call.stream().filter((event) -> event.kind() == Kind.VALID).toList();
			if (grant != null && !valid.isEmpty()) {
				intervals.computeIfAbsent(grant.key(), (key) -> new ArrayList<>())
					.add(new Interval(grant.at(), valid.get(valid.size() - 1).at(), grant));
			}
		});
		intervals.forEach((key, all) -> {
			all.sort(Comparator.comparingLong(Interval::from));
			Interval latest = all.get(0);
			for (Interval interval : all.subList(1, all.size())) {
				if (interval.from() < latest.to()) {
					add("I4", key, interval.from(), Math.min(interval.to(), latest.to()), interval.grant().call()
							+ " and " + latest.grant().call() + " both held the key by their own clocks");
				}
				latest = (interval.to() > latest.to()) ? interval : latest;
			}
		});
	}

	// I5 and I9: what must change nothing says what it found before and after; the holder
	// of a valid lease asks
	private void unchanged(String invariant, Kind kind) {
		for (Event event : this.history.of(kind)) {
			String[] states = event.detail().split(" -> ", -1);
			if (!states[0].equals(states[1]) || !states[0].startsWith(event.nonce())) {
				add(invariant, event.key(), event.at(), event.at(),
						"the owner " + event.nonce() + " has changed: " + event.detail());
			}
		}
	}

	// I6: one record a unit, after which it does not run again, and none before it ran
	private void records() {
		Map<String, Event> recorded = new HashMap<>();
		Map<String, Event> run = new HashMap<>();
		for (Event event : this.history.of(Kind.RECORDED)) {
			Event twin = recorded.putIfAbsent(event.key() + " " + event.detail(), event);
			if (twin != null) {
				add("I6", event.key(), twin.at(), event.at(), "unit " + event.detail() + " was recorded twice");
			}
		}
		for (Event event : this.history.events()) {
			String unit = event.key() + " " + event.detail();
			if (event.kind() == Kind.EFFECT) {
				run.putIfAbsent(unit, event);
				Event record = recorded.get(unit);
				if (record != null && record.at() < invoked(event)) {
					add("I6", event.key(), record.at(), event.at(), "unit " + event.detail() + " ran after its record");
				}
			}
			if (event.kind() == Kind.SKIPPED && !run.containsKey(unit)) {
				add("I6", event.key(), event.at(), event.at(),
						"unit " + event.detail() + " was skipped as done, and nobody had run it");
			}
		}
	}

	// I7: no body without a grant
	private void bodies() {
		this.calls.values().forEach((call) -> {
			Event grant = first(call, Kind.GRANTED);
			for (Event event : call) {
				boolean work = event.kind() == Kind.GRANTED || event.kind() == Kind.WRITE
						|| event.kind() == Kind.EFFECT;
				boolean denied = event.kind() == Kind.REFUSED || event.kind() == Kind.UNKNOWN;
				if ((work && (grant == null || grant.token() <= 0 || grant.nonce().isEmpty()))
						|| (denied && grant != null)) {
					add("I7", event.key(), event.at(), event.at(), "the body ran in a call that has not acquired");
					return;
				}
			}
		});
	}

	private Map<String, List<Event>> byKey(Kind kind) {
		return new History(this.history.of(kind), List.of()).by(Event::key);
	}

	private long invoked(Event event) {
		return before(event, Kind.ACQUIRE).at();
	}

	private Event before(Event event, Kind kind) {
		Event found = event;
		for (Event each : this.calls.getOrDefault(event.call(), List.of())) {
			if (each.kind() == kind && each.at() <= event.at()) {
				found = each;
			}
		}
		return found;
	}

	private long written(Entry entry) {
		return this.history.of(Kind.WRITE)
			.stream()
			.filter((event) -> event.nonce().equals(entry.nonce()))
			.mapToLong(Event::at)
			.findFirst()
			.orElse(0);
	}

	static @Nullable Event first(List<Event> call, Kind kind) {
		return call.stream().filter((event) -> event.kind() == kind).findFirst().orElse(null);
	}

	private void add(String invariant, String key, long from, long to, String text) {
		this.violations.add(new Violation(invariant, key, from, to, text));
	}

	/**
	 * When a holder thought that it held a key.
	 *
	 * @param from the first moment
	 * @param to the last moment
	 * @param grant the grant
	 */
	private record Interval(long from, long to, Event grant) {
	}

}
