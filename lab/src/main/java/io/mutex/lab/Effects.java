package io.mutex.lab;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.mutex.lab.Event.Kind;

/**
 * What a fault has hit. A run in which it hit nothing proves nothing.
 */
final class Effects {

	// the longest wait of a worker, its last question, and what a loaded machine takes
	private static final Duration BOUND = Duration.ofSeconds(8 + 5);

	private Effects() {
	}

	static long takeovers(Field field, History history) {
		return Takeover.of(history).size();
	}

	static long hits(Field field, History history) {
		return field.hits();
	}

	static long hitAndDisturbed(Field field, History history) {
		return Math.min(field.hits(), disturbed(field, history));
	}

	static long hitAndLost(Field field, History history) {
		return Math.min(field.hits(), lost(field, history));
	}

	static long stops(Field field, History history) {
		return (field.provider == Provider.FILE) ? kept(history) : lost(field, history);
	}

	// each of them
	static long takeoversStopsAndEnds(Field field, History history) {
		return Math.min(Math.min(Takeover.of(history).size(), kept(history)), field.hits());
	}

	static long everything(Field field, History history) {
		return Takeover.of(history).size() + disturbed(field, history);
	}

	// C7: two held a key at once, since one of them measured its lease with a slow clock
	static long overlaps(Field field, History history) {
		return Checker.check(history, Allowance.of(field.provider.takeover()))
			.stream()
			.filter((violation) -> violation.invariant().equals("I4"))
			.count();
	}

	/**
	 * The calls that a fault, or what it left behind, has hit: lost, refused by the
	 * storage, or without an answer.
	 * @param field where
	 * @param history what was written down
	 * @return the number
	 */
	static long disturbed(Field field, History history) {
		List<Window> windows = Window.of(history, field.provider);
		return history.events().stream().filter((event) -> switch (event.kind()) {
			case UNKNOWN, LOST, STALE, DOUBTFUL -> true;
			default -> false;
		})
			.filter((event) -> windows.stream()
				.anyMatch((window) -> window.concerns(event.process()) && window.contains(event.at())))
			.map(Event::call)
			.distinct()
			.count();
	}

	/**
	 * The leases that a fault has ended: their holders had them when it struck.
	 * @param field where
	 * @param history what was written down
	 * @return the number
	 */
	static long lost(Field field, History history) {
		List<Window> windows = Window.of(history, field.provider);
		Map<String, Event> grants = new HashMap<>();
		history.of(Kind.GRANTED).forEach((grant) -> grants.put(grant.call(), grant));
		return history.events()
			.stream()
			.filter(Event::isLoss)
			.filter((event) -> grants.containsKey(event.call()) && windows.stream()
				.anyMatch((window) -> window.concerns(event.process()) && window.contains(event.at())
						&& grants.get(event.call()).at() < window.from()))
			.map(Event::call)
			.distinct()
			.count();
	}

	// the holds that a stop neither ended nor took away: they went on for longer than any
	// other
	private static long kept(History history) {
		Map<String, Event> stopped = new HashMap<>();
		Map<String, Event> held = new HashMap<>();
		Map<String, Event> kept = new HashMap<>();
		for (Event event : history.events()) {
			switch (event.kind()) {
				case FAULT -> stopped.put(event.process(), event);
				case GRANTED -> held.put(event.call(), event);
				case END -> {
					Event grant = held.remove(event.call());
					Event fault = stopped.get(event.process());
					if (grant != null && fault != null && grant.at() < fault.at()
							&& event.at() - fault.at() > Provider.LEASE.toNanos() * 3 / 2) {
						kept.put(grant.call(), grant);
					}
				}
				case LOST -> held.remove(event.call());
				default -> {
				}
			}
		}
		return kept.size();
	}

	// C1: what a worker took for the time when it asked
	static long movedWorkers(Field field, History history) {
		List<Event> asked = history.of(Kind.ACQUIRE);
		long usual = asked.stream()
			.filter((event) -> !field.clocks.has(event.process()))
			.mapToLong(Effects::offset)
			.findFirst()
			.orElse(0);
		return asked.stream()
			.filter((event) -> Math.abs(offset(event) - usual) > Duration.ofMinutes(30).toMillis())
			.count();
	}

	private static long offset(Event asked) {
		return Long.parseLong(asked.detail()) - asked.at() / 1_000_000;
	}

	// C5: the leases that their holders gave up although the store would have kept them
	static long lostByClock(Field field, History history) {
		List<Event> others = history.events()
			.stream()
			.filter((event) -> event.isLoss() && !field.clocks.has(event.process()))
			.toList();
		if (!others.isEmpty()) {
			throw new BoundException("a lease was lost by a worker whose clock was right: " + others.get(0));
		}
		return lost(field, history);
	}

	// R6: the acquisitions that say why they failed
	static long memoryFull(Field field, History history) {
		return history.of(Kind.UNKNOWN).stream().filter((event) -> event.detail().contains("memory is full")).count();
	}

	// J6: nobody waits for longer than was asked for
	static long bounded(Field field, History history) {
		for (List<Event> call : history.calls().values()) {
			Event asked = Checker.first(call, Kind.ACQUIRE);
			Event answered = call.stream().filter((event) -> switch (event.kind()) {
				case GRANTED, REFUSED, UNKNOWN -> true;
				default -> false;
			}).findFirst().orElse(null);
			if (asked != null && answered != null && answered.at() - asked.at() > BOUND.toNanos()) {
				throw new BoundException("an acquisition took longer than " + BOUND + ": " + answered);
			}
		}
		return disturbed(field, history);
	}

	/**
	 * Something other than an invariant was broken.
	 */
	static final class BoundException extends RuntimeException {

		private static final long serialVersionUID = 1L;

		BoundException(String message) {
			super(message);
		}

	}

}
