package io.mutex.model;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;

import io.mutex.AcquireRequest;
import io.mutex.Acquisition;
import io.mutex.LockProvider.Grant;
import io.mutex.LockProvider.Settlement;
import io.mutex.model.Explorer.Exploration;
import io.mutex.model.Explorer.Move;
import io.mutex.model.Worker.Step;
import io.mutex.model.World.Faults;
import io.mutex.model.World.Guard;
import io.mutex.model.World.History;
import io.mutex.model.World.Store;
import io.mutex.protocol.LockRow;
import io.mutex.protocol.RunRow;
import io.mutex.protocol.StoreProtocol;
import io.mutex.protocol.Transition;
import io.mutex.run.Owner;
import io.mutex.run.RunRecord.Status;
import io.mutex.run.RunUnit;
import org.jspecify.annotations.Nullable;

/**
 * The protocol as what may happen next: the store decides by {@link StoreProtocol}, the
 * workers and the guard by their rules. Every worker may stand still between any two
 * steps, since the steps of the others and the time go on without it.
 */
final class LockModel {

	private static final String KEY = "key";

	private static final String UNIT = "unit";

	/** The length of a lease, in ticks of a millisecond. */
	private static final int TTL = 2;

	private static final Duration LEASE = Duration.ofMillis(TTL);

	/** The store's time at the start, in microseconds, and that of a tick. */
	private static final long START = 1_000_000;

	private static final long TICK = 1_000;

	private static final Owner OWNER = new Owner("instance", "host", 1, "thread");

	private final Work work;

	private final Variant variant;

	private final boolean skips;

	LockModel(Work work, Variant variant, boolean skips) {
		this.work = work;
		this.variant = variant;
		this.skips = skips;
	}

	Exploration explore(int workers, int calls, Faults faults) {
		Store empty = new Store(null, null, -1);
		World start = new World(0, 0, empty, empty, new Guard(0, "", 0),
				Collections.nCopies(workers, Worker.idle(calls)), faults,
				new History(0, "", 0, 0, 0, false, false, ""));
		return new Explorer<>(this::moves, this::violation).explore(start);
	}

	private List<Move<World>> moves(World world) {
		List<Move<World>> moves = new ArrayList<>();
		Faults left = world.faults();
		if (left.ticks() > 0) {
			add(moves, world, "a tick passes", (draft) -> tick(draft));
		}
		if (left.losses() > 0 && world.store().writer() < 0) {
			if (!world.saved().equals(world.store()) && world.store().lock() != null) {
				add(moves, world, "the store saves its state", (draft) -> draft.saved = draft.store);
			}
			if (left.ticks() > 0) {
				add(moves, world, "the store falls back to its saved state", (draft) -> lose(draft, false));
				if (left.clockBack()) {
					add(moves, world, "the store falls back to its saved state, its clock to the start",
							(draft) -> lose(draft, true));
				}
			}
		}
		for (int i = 0; i < world.workers().size(); i++) {
			steps(moves, world, i);
			faults(moves, world, i);
		}
		return moves;
	}

	private static void tick(Draft draft) {
		Faults left = draft.faults;
		draft.time++;
		draft.faults = new Faults(left.ticks() - 1, left.lostAnswers(), left.copies(), left.crashes(), left.losses(),
				left.clockBack());
	}

	private static void lose(Draft draft, boolean clockBack) {
		tick(draft);
		Faults left = draft.faults;
		draft.faults = new Faults(left.ticks(), left.lostAnswers(), left.copies(), left.crashes(), left.losses() - 1,
				left.clockBack());
		draft.store = draft.saved;
		draft.lost();
		if (clockBack) {
			draft.back = draft.time;
		}
	}

	private void steps(List<Move<World>> moves, World world, int i) {
		Worker worker = world.workers().get(i);
		String name = name(i);
		// the row of the lock is written by an open transaction
		boolean waits = world.store().writer() >= 0 && world.store().writer() != i;
		switch (worker.step()) {
			case IDLE -> add(moves, world, name + " sends ACQUIRE",
					(draft) -> draft.workers.set(i, worker.asking(nonce(name + worker.calls()), draft.time,
							(this.variant == Variant.RECORD_CHECKED_BEFORE_LOCK) ? Step.LOOK : Step.ASK)));
			case LOOK -> add(moves, world, name + " looks for the record",
					(draft) -> draft.workers.set(i, isDone(draft.store.run()) ? worker.ended() : worker.at(Step.ASK)));
			case ASK -> {
				if (!waits) {
					add(moves, world, "the store answers ACQUIRE of " + name, (draft) -> acquire(draft, i, false));
				}
			}
			case ANSWERED -> add(moves, world, name + " receives its grant", (draft) -> receive(draft, i));
			case GRANTED -> begin(moves, world, i);
			case READ -> add(moves, world, name + " reads",
					(draft) -> draft.workers.set(i, worker.reading(draft.guard.value())));
			case WRITE -> add(moves, world, name + " writes", (draft) -> write(draft, i));
			case EFFECT -> {
				add(moves, world, name + " does its work", (draft) -> effect(draft, i));
				if (!waits) {
					add(moves, world, name + " fails", (draft) -> settle(draft, i, true));
				}
			}
			case CHECK -> {
				if (!waits) {
					add(moves, world, name + " records its run in its transaction", (draft) -> check(draft, i));
				}
			}
			case COMMIT -> {
				add(moves, world, name + " commits", (draft) -> commit(draft, i));
				if (world.time() >= worker.deadline()) {
					add(moves, world, "the database ends the transaction of " + name, (draft) -> rollBack(draft, i));
				}
			}
			case SETTLE -> {
				if (!waits) {
					add(moves, world, name + " completes", (draft) -> settle(draft, i, false));
				}
			}
			case RELEASE, GIVE_BACK -> {
				if (!waits) {
					add(moves, world, name + " releases", (draft) -> {
						release(draft, worker, worker.step() == Step.RELEASE && this.work != Work.FENCED);
						draft.workers.set(i, worker.ended());
					});
				}
			}
			case GONE -> {
			}
		}
	}

	private void faults(List<Move<World>> moves, World world, int i) {
		Worker worker = world.workers().get(i);
		Faults left = world.faults();
		String name = name(i);
		boolean free = world.store().writer() < 0;
		if (worker.step() == Step.ASK && left.lostAnswers() > 0) {
			if (free) {
				add(moves, world, "the store answers ACQUIRE of " + name + ", and the answer is lost",
						(draft) -> acquire(draft, i, true));
			}
			add(moves, world, name + " gives up asking", (draft) -> {
				spend(draft, 1, 0, 0);
				draft.workers.set(i, worker.copied(worker.nonce()).at(Step.GIVE_BACK));
			});
		}
		if (worker.step() == Step.ASK && left.copies() > 0 && worker.copy().isEmpty()) {
			add(moves, world, "ACQUIRE of " + name + " is sent twice", (draft) -> {
				spend(draft, 0, 1, 0);
				draft.workers.set(i, worker.copied(worker.nonce()));
			});
		}
		if (!worker.copy().isEmpty() && free) {
			add(moves, world, "the store answers the late ACQUIRE " + worker.copy() + " to nobody", (draft) -> {
				ask(draft, worker.copy(), worker.floor());
				draft.workers.set(i, worker.copied(""));
			});
		}
		if (left.crashes() > 0 && worker.step() != Step.IDLE && worker.step() != Step.GONE) {
			add(moves, world, name + " dies", (draft) -> {
				spend(draft, 0, 0, 1);
				if (draft.store.writer() == i) {
					rollBack(draft, i);
				}
				draft.workers.set(i, Worker.idle(0).copied(worker.copy()).at(Step.GONE));
			});
		}
	}

	private static void spend(Draft draft, int lostAnswers, int copies, int crashes) {
		Faults left = draft.faults;
		draft.faults = new Faults(left.ticks(), left.lostAnswers() - lostAnswers, left.copies() - copies,
				left.crashes() - crashes, left.losses(), left.clockBack());
	}

	private void acquire(Draft draft, int i, boolean lost) {
		Worker worker = draft.workers.get(i);
		boolean holds = draft.store.lock() != null && draft.store.lock().nonce().equals(worker.nonce())
				&& draft.store.lock().isHeld(now(draft));
		Acquisition answer = ask(draft, worker.nonce(), worker.floor());
		if (holds && !(answer instanceof Acquisition.Granted)) {
			draft.broken("a retry is refused though its nonce holds the key: " + name(i) + " skips its run silently");
		}
		if (lost) {
			spend(draft, 1, 0, 0);
			if (this.variant == Variant.UNKNOWN_TAKEN_FOR_GRANT) {
				draft.workers.set(i, worker.granted(0, false));
			}
		}
		else if (answer instanceof Acquisition.Granted granted) {
			draft.workers.set(i, worker.granted(granted.token(), granted.doubt() != null));
		}
		else {
			// an earlier request may have been granted meanwhile
			draft.workers.set(i, worker.at(Step.GIVE_BACK));
		}
	}

	private Acquisition ask(Draft draft, String nonce, long floor) {
		long now = now(draft);
		LockRow lock = draft.store.lock();
		RunRow run = (this.variant == Variant.RECORD_CHECKED_BEFORE_LOCK) ? null : draft.store.run();
		if (this.variant == Variant.ATTEMPT_BEFORE_NONCE && lock != null && lock.attempt() >= 1) {
			return new Acquisition.Stale();
		}
		boolean held = lock != null && lock.isHeld(now);
		Transition<Acquisition> transition = StoreProtocol.acquire(lock, run, request(nonce, floor), now);
		draft.store(transition);
		if (transition.answer() instanceof Acquisition.Granted granted && !held) {
			draft.granted(granted.token(), draft.back == 0);
		}
		return transition.answer();
	}

	private AcquireRequest request(String nonce, long floor) {
		return new AcquireRequest(KEY, "", nonce, OWNER, LEASE, floor,
				(this.work != Work.FENCED) ? RunUnit.of(UNIT) : null, 0, 1);
	}

	private void receive(Draft draft, int i) {
		Worker worker = draft.workers.get(i);
		int from = (this.variant == Variant.DEADLINE_FROM_ANSWER) ? draft.time : worker.sent();
		boolean late = draft.time >= from + TTL;
		draft.workers.set(i, late ? worker.at(Step.GIVE_BACK) : worker.believing(from + TTL));
	}

	private void begin(List<Move<World>> moves, World world, int i) {
		Worker worker = world.workers().get(i);
		String name = name(i);
		if (this.work == Work.FENCED) {
			add(moves, world, name + " registers its grant", (draft) -> register(draft, i));
		}
		else if (this.skips && worker.doubt()) {
			add(moves, world, name + " skips its run for a doubt", (draft) -> {
				if (this.variant == Variant.SKIP_REMOVES_DOUBT) {
					draft.store = new Store(draft.store.lock(), null, draft.store.writer());
				}
				draft.workers.set(i, worker.at(Step.GIVE_BACK));
			});
		}
		else {
			add(moves, world, name + " begins its run", (draft) -> {
				boolean valid = draft.time < worker.deadline();
				if (valid) {
					enter(draft, worker);
				}
				draft.workers.set(i, worker.at(valid ? Step.EFFECT : Step.GIVE_BACK));
			});
		}
	}

	private void enter(Draft draft, Worker worker) {
		if (worker.token() == 0) {
			draft.broken("I7: a body begins without a grant");
		}
		if (this.work == Work.RECORDED_AFTER) {
			draft.began();
		}
	}

	private void register(Draft draft, int i) {
		Worker worker = draft.workers.get(i);
		enter(draft, worker);
		if (this.variant == Variant.CHECK_ON_WRITE_ONLY) {
			draft.workers.set(i, worker.at(Step.READ));
			return;
		}
		Guard guard = draft.guard;
		boolean same = worker.token() == guard.token()
				&& (worker.nonce().equals(guard.nonce()) || this.variant == Variant.EQUAL_TOKEN_WITHOUT_NONCE);
		if (worker.token() > guard.token() || same) {
			draft.guard = new Guard(worker.token(), worker.nonce(), guard.value());
			draft.registered(worker.nonce());
			draft.workers.set(i, worker.at(Step.READ));
		}
		else {
			draft.workers.set(i, worker.refused(guard.token()));
		}
	}

	private void write(Draft draft, int i) {
		Worker worker = draft.workers.get(i);
		Guard guard = draft.guard;
		boolean accepted = switch (this.variant) {
			case CHECK_ON_WRITE_ONLY -> worker.token() >= guard.token();
			case EQUAL_TOKEN_WITHOUT_NONCE -> worker.token() == guard.token();
			default -> worker.token() == guard.token() && worker.nonce().equals(guard.nonce());
		};
		if (accepted) {
			draft.guard = new Guard(worker.token(), worker.nonce(), worker.seen() + 1);
			draft.wrote(worker.nonce());
		}
		draft.workers.set(i, worker.at(Step.RELEASE));
	}

	private void effect(Draft draft, int i) {
		Worker worker = draft.workers.get(i);
		if (this.work == Work.RECORDED_AFTER) {
			draft.took();
			draft.workers.set(i, worker.at(Step.SETTLE));
		}
		else {
			draft.workers.set(i, worker.at(Step.CHECK));
		}
	}

	// the last statement of the transaction: the row stays written by it until its end
	private void check(Draft draft, int i) {
		Worker worker = draft.workers.get(i);
		boolean lost = draft.time >= worker.deadline();
		if (lost || complete(draft, worker).answer() != Settlement.SETTLED) {
			draft.workers.set(i, worker.at(Step.RELEASE));
			return;
		}
		if (this.variant != Variant.CHECK_THAT_READS) {
			draft.store = new Store(draft.store.lock(), draft.store.run(), i);
		}
		draft.workers.set(i, worker.at(Step.COMMIT));
	}

	private void commit(Draft draft, int i) {
		Worker worker = draft.workers.get(i);
		Store store = draft.store;
		if (this.variant == Variant.CHECK_THAT_READS) {
			LockRow lock = store.lock();
			draft.store = new Store(lock,
					new RunRow(UNIT, Status.DONE, worker.token(), worker.nonce(), OWNER, 1, START, START, 0, null, 0),
					-1);
		}
		else {
			draft.store = new Store(store.lock(), store.run(), -1);
			draft.store(complete(draft, worker));
		}
		draft.took();
		draft.recorded();
		draft.workers.set(i, worker.ended());
	}

	private void rollBack(Draft draft, int i) {
		draft.store = new Store(draft.store.lock(), draft.store.run(), -1);
		draft.workers.set(i, draft.workers.get(i).at(Step.RELEASE));
	}

	private static Transition<Settlement> complete(Draft draft, Worker worker) {
		return StoreProtocol.complete(draft.store.lock(), draft.store.run(), grant(worker), UNIT, now(draft));
	}

	private static Grant grant(Worker worker) {
		return new Grant(KEY, worker.nonce(), worker.token(), LEASE);
	}

	private void settle(Draft draft, int i, boolean failed) {
		Worker worker = draft.workers.get(i);
		boolean lost = draft.time >= worker.deadline();
		if (lost && (failed || this.variant != Variant.COMPLETION_AFTER_LOSS)) {
			draft.workers.set(i, worker.at(Step.RELEASE));
			return;
		}
		Transition<Settlement> transition = failed ? StoreProtocol.fail(draft.store.lock(), draft.store.run(),
				grant(worker), UNIT, now(draft), Duration.ZERO, "failed") : complete(draft, worker);
		draft.store(transition);
		if (transition.answer() == Settlement.SETTLED) {
			if (failed) {
				draft.failed();
			}
			else {
				draft.recorded();
			}
			if (lost) {
				draft.broken("a run that has lost its lease is recorded");
			}
		}
		draft.workers.set(i, worker.ended());
	}

	private void release(Draft draft, Worker worker, boolean began) {
		LockRow lock = draft.store.lock();
		boolean blind = this.variant == Variant.RELEASE_WITHOUT_COMPARING && lock != null;
		draft.store(StoreProtocol.release(lock, blind ? lock.nonce() : worker.nonce(), began, now(draft)));
	}

	private @Nullable String violation(World world) {
		History history = world.history();
		if (!history.broken().isEmpty()) {
			return history.broken();
		}
		long believing = world.workers().stream().filter((worker) -> worker.believes(world.time())).count();
		if (believing > 1 && !history.lost()) {
			return "I4: " + believing + " workers believe to hold the key";
		}
		if (history.records() > 1) {
			return "I6: the unit was recorded " + history.records() + " times";
		}
		if (this.work == Work.RECORDED_IN_TRANSACTION && history.effects() != history.records()) {
			return "I6: " + history.effects() + " effects and " + history.records() + " records";
		}
		if (this.skips && history.effects() > 1) {
			return "I6: " + history.effects() + " effects, though a doubt is skipped";
		}
		return (world.store().writer() < 0 && this.work != Work.FENCED) ? skipped(world) : null;
	}

	// what a later call would be told once every lease has ended
	private @Nullable String skipped(World world) {
		Store store = world.store();
		long later = START + (world.time() + 2L * TTL) * TICK;
		Acquisition answer = StoreProtocol.acquire(store.lock(), store.run(), request(nonce("later"), 0), later)
			.answer();
		if (answer instanceof Acquisition.Granted granted) {
			return (world.history().open() && granted.doubt() == null)
					? "a run has begun, and neither its outcome nor a doubt is kept" : null;
		}
		return isDone(store.run()) ? null : "a unit that is not done cannot be run any more: " + answer;
	}

	private static String nonce(String name) {
		return String.format("%-32s", name).replace(' ', '-');
	}

	private static boolean isDone(@Nullable RunRow run) {
		return run != null && run.status() == Status.DONE;
	}

	private static String name(int i) {
		return String.valueOf((char) ('A' + i));
	}

	private static long now(Draft draft) {
		return START + (draft.time - draft.back) * TICK;
	}

	private static void add(List<Move<World>> moves, World world, String name, Consumer<Draft> step) {
		Draft draft = new Draft(world);
		step.accept(draft);
		moves.add(new Move<>(name, draft.toWorld()));
	}

}
