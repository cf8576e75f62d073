package io.mutex.engine;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

import io.mutex.LockProvider.Grant;
import io.mutex.testing.Experiments;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Every interleaving of a few callers of one process in the line of a key: the steps of
 * {@link Acquirer} and {@link Settler} between which others may come, on the line itself.
 * Each state is reached by its shortest schedule and looked at once.
 */
@DisplayName("I1 I4 every interleaving of the callers of a process")
class HandOverExplorationTests {

	private static final Duration TTL = Duration.ofSeconds(30);

	private static final int TOKENS = 3;

	static List<Arguments> sizes() {
		return List
			.of(Arguments.of(2, 2, 1, 0), Arguments.of(3, 1, 1, 1), Arguments.of(2, 2, 1, 1), Arguments.of(3, 2, 1, 0),
					Arguments.of(4, 1, 1, 1))
			.subList(0, Experiments.rounds(2, 5));
	}

	@ParameterizedTest(name = "{0} callers with {1} calls each, of whom {2} give up and {3} lose their lease")
	@MethodSource("sizes")
	void excludesAndOrdersAndEnds(int callers, int calls, int givingUp, int losing) {
		int states = explore(() -> new World(callers, calls, givingUp, losing, true));
		assertThat(states).isGreaterThan(100);
	}

	@Test
	@DisplayName("the exploration finds a turn that is handed over after the key went back to the store")
	void explorationFindsATurnThatIsHandedOverTooLate() {
		assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> explore(() -> new World(3, 1, 0, 0, false)))
			.withMessageContaining("holders");
	}

	private static int explore(Supplier<World> worlds) {
		Set<String> seen = new HashSet<>();
		Deque<List<Integer>> open = new ArrayDeque<>();
		open.add(List.of());
		while (!open.isEmpty()) {
			List<Integer> schedule = open.remove();
			World world = worlds.get();
			schedule.forEach(world::step);
			List<Integer> next = world.choices();
			if (next.isEmpty()) {
				world.assertEnded(schedule);
			}
			for (int choice : next) {
				List<Integer> longer = new ArrayList<>(schedule);
				longer.add(choice);
				World successor = worlds.get();
				longer.forEach(successor::step);
				successor.assertSafe(longer);
				if (seen.add(successor.toString())) {
					open.add(longer);
				}
			}
		}
		return seen.size();
	}

	/**
	 * Where a caller stands.
	 */
	private enum Step {

		JOIN, LOOK, ASK, ANSWER, PARK, ENTER, HOLD, END, RELEASE, FORGET, TELL, LEAVE, DONE

	}

	private static final class Caller {

		private Step step = Step.JOIN;

		private int calls;

		private @Nullable Waiter waiter;

		private @Nullable Turn turn;

		Caller(int calls) {
			this.calls = calls;
		}

		@Override
		public String toString() {
			return this.step + "/" + this.calls + "/"
					+ ((this.turn != null) ? this.turn.token() + "of" + this.turn.grant().token() : "-")
					+ ((this.waiter != null) ? this.waiter : "");
		}

	}

	/**
	 * The callers, the line, the store and what the process knows of its holder.
	 */
	private static final class World {

		private final WaitingLine line = new WaitingLine();

		private final List<Caller> callers = new ArrayList<>();

		private final List<Waiter> joined = new ArrayList<>();

		private final boolean correct;

		private int givingUp;

		private int losing;

		private @Nullable Grant stored;

		private @Nullable Caller known;

		private long tokens;

		private long last;

		private String broken = "";

		World(int callers, int calls, int givingUp, int losing, boolean correct) {
			this.givingUp = givingUp;
			this.losing = losing;
			this.correct = correct;
			for (int i = 0; i < callers; i++) {
				this.callers.add(new Caller(calls));
			}
		}

		// an even choice is the next step of a caller; an odd one is its giving up, or
		// loss
		List<Integer> choices() {
			List<Integer> choices = new ArrayList<>();
			for (int i = 0; i < this.callers.size(); i++) {
				Caller caller = this.callers.get(i);
				boolean sleeps = caller.step == Step.PARK && !caller.waiter.isDue();
				if (caller.step != Step.DONE && !sleeps) {
					choices.add(2 * i);
				}
				if ((caller.step == Step.PARK && this.givingUp > 0) || (caller.step == Step.HOLD && this.losing > 0)) {
					choices.add(2 * i + 1);
				}
			}
			return choices;
		}

		void step(int choice) {
			Caller caller = this.callers.get(choice / 2);
			if (choice % 2 == 0) {
				caller.step = next(caller);
			}
			else if (caller.step == Step.PARK) {
				this.givingUp--;
				caller.step = Step.LEAVE;
			}
			else {
				// the store has freed the key, and the process gets to know it
				this.losing--;
				this.stored = null;
				this.line.released("key");
				caller.step = Step.TELL;
			}
		}

		private Step next(Caller caller) {
			return switch (caller.step) {
				case JOIN -> {
					caller.waiter = this.line.join("key", TTL, Long.MAX_VALUE / 2);
					this.joined.add(caller.waiter);
					yield Step.LOOK;
				}
				case LOOK -> (this.known != null && this.known.step == Step.HOLD) ? Step.PARK : Step.ASK;
				case ASK -> this.line.ask(caller.waiter) ? Step.ANSWER : Step.PARK;
				case ANSWER -> answer(caller);
				case PARK -> woken(caller);
				case LEAVE -> entering(caller, this.line.leave(caller.waiter, true));
				case ENTER -> {
					this.known = caller;
					yield Step.HOLD;
				}
				case HOLD -> Step.END;
				case END -> handedOver(caller) ? Step.FORGET : Step.RELEASE;
				case RELEASE -> {
					release(caller);
					yield (this.correct || !handedOver(caller)) ? Step.TELL : Step.FORGET;
				}
				case TELL -> {
					forget(caller);
					this.line.released("key");
					yield ended(caller);
				}
				case FORGET -> {
					forget(caller);
					yield ended(caller);
				}
				case DONE -> Step.DONE;
			};
		}

		private Step answer(Caller caller) {
			if (this.stored != null) {
				this.line.refused(caller.waiter);
				return Step.PARK;
			}
			this.tokens += TOKENS;
			this.stored = new Grant("key", "nonce", this.tokens, TTL);
			this.line.leave(caller.waiter, false);
			return entering(caller, new Turn(this.stored, this.tokens - TOKENS + 1,
					Validity.sentNow(TimeSource.SYSTEM, TTL), 0, false));
		}

		private Step woken(Caller caller) {
			try {
				Turn turn = caller.waiter.await(0);
				return (turn != null) ? entering(caller, turn) : Step.LOOK;
			}
			catch (InterruptedException ex) {
				throw new AssertionError(ex);
			}
		}

		private Step entering(Caller caller, @Nullable Turn turn) {
			if (turn == null) {
				return ended(caller);
			}
			// in the order of the line, each with a higher token than the one before
			if (this.joined.remove(0) != caller.waiter && this.correct) {
				this.broken = "overtaken";
			}
			if (turn.token() <= this.last) {
				this.broken = "token " + turn.token() + " after " + this.last;
			}
			this.last = turn.token();
			caller.turn = turn;
			return Step.ENTER;
		}

		private boolean handedOver(Caller caller) {
			Turn turn = caller.turn;
			return !turn.isLast() && this.line.handOver("key", turn.next(turn.validity()), 0);
		}

		private void release(Caller caller) {
			if (this.stored != null && this.stored.token() == caller.turn.grant().token()) {
				this.stored = null;
			}
		}

		private void forget(Caller caller) {
			if (this.known == caller) {
				this.known = null;
			}
		}

		private Step ended(Caller caller) {
			this.joined.remove(caller.waiter);
			caller.turn = null;
			caller.waiter = null;
			caller.calls--;
			return (caller.calls > 0) ? Step.JOIN : Step.DONE;
		}

		void assertSafe(List<Integer> schedule) {
			long holders = this.callers.stream()
				.filter((caller) -> caller.step == Step.ENTER || caller.step == Step.HOLD)
				.count();
			if (holders > 1) {
				this.broken = holders + " holders";
			}
			if (!this.broken.isEmpty()) {
				throw new AssertionError(this.broken + " after " + schedule);
			}
		}

		void assertEnded(List<Integer> schedule) {
			boolean ended = this.callers.stream().allMatch((caller) -> caller.step == Step.DONE)
					&& this.line.waiting("key") == 0 && this.stored == null && this.known == null;
			if (!ended) {
				throw new AssertionError("nobody goes on after " + schedule + ": " + this);
			}
		}

		@Override
		public String toString() {
			List<Integer> order = this.joined.stream()
				.map((waiter) -> this.callers.indexOf(
						this.callers.stream().filter((caller) -> caller.waiter == waiter).findFirst().orElse(null)))
				.toList();
			return this.callers + " " + order + " " + this.stored + " " + this.callers.indexOf(this.known) + " "
					+ this.givingUp + " " + this.losing + " " + (this.tokens - this.last);
		}

	}

}
