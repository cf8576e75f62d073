package io.mutex.model;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

/**
 * Looks at every state that can be reached, breadth first, so that the first violation is
 * one with the shortest trace.
 *
 * @param <S> an immutable state, compared by its value
 */
public final class Explorer<S> {

	private final Function<S, List<Move<S>>> moves;

	private final Function<S, @Nullable String> violation;

	/**
	 * An explorer.
	 * @param moves what can happen next in a state
	 * @param violation what is wrong with a state, or {@code null}
	 */
	public Explorer(Function<S, List<Move<S>>> moves, Function<S, @Nullable String> violation) {
		this.moves = moves;
		this.violation = violation;
	}

	/**
	 * Looks at the states until one is wrong.
	 * @param start the first state
	 * @return what was found
	 */
	public Exploration explore(S start) {
		Map<S, @Nullable Step<S>> reached = new HashMap<>();
		Deque<S> open = new ArrayDeque<>();
		reached.put(start, null);
		open.add(start);
		while (!open.isEmpty()) {
			S state = open.remove();
			String wrong = this.violation.apply(state);
			if (wrong != null) {
				return new Exploration(reached.size(), wrong, trace(reached, state));
			}
			for (Move<S> move : this.moves.apply(state)) {
				if (!reached.containsKey(move.next())) {
					reached.put(move.next(), new Step<>(state, move.name()));
					open.add(move.next());
				}
			}
		}
		return new Exploration(reached.size(), null, List.of());
	}

	private static <S> List<String> trace(Map<S, @Nullable Step<S>> reached, S last) {
		List<String> trace = new ArrayList<>();
		for (Step<S> step = reached.get(last); step != null; step = reached.get(step.before())) {
			trace.add(step.name());
		}
		Collections.reverse(trace);
		return trace;
	}

	/**
	 * One thing that can happen.
	 *
	 * @param <S> the state
	 * @param name what happens
	 * @param next the state after it
	 */
	public record Move<S>(String name, S next) {

	}

	/**
	 * What was found.
	 *
	 * @param states how many states were reached
	 * @param violation what is wrong with the last one, or {@code null}
	 * @param trace what happened on the shortest way to it
	 */
	public record Exploration(int states, @Nullable String violation, List<String> trace) {

		@Override
		public String toString() {
			return (this.violation != null)
					? this.violation + " after\n  " + String.join("\n  ", this.trace) + "\n" + this.states + " states"
					: this.states + " states, no violation";
		}

	}

	private record Step<S>(S before, String name) {

	}

}
