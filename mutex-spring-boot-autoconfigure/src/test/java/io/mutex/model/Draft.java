package io.mutex.model;

import java.util.ArrayList;
import java.util.List;

import io.mutex.model.World.Faults;
import io.mutex.model.World.Guard;
import io.mutex.model.World.History;
import io.mutex.model.World.Store;
import io.mutex.protocol.LockRow;
import io.mutex.protocol.RunRow;
import io.mutex.protocol.Transition;
import org.jspecify.annotations.Nullable;

/**
 * A copy of a world in which one step is made.
 */
final class Draft {

	int time;

	int back;

	Store store;

	Store saved;

	Guard guard;

	final List<Worker> workers;

	Faults faults;

	private History history;

	Draft(World world) {
		this.time = world.time();
		this.back = world.back();
		this.store = world.store();
		this.saved = world.saved();
		this.guard = world.guard();
		this.workers = new ArrayList<>(world.workers());
		this.faults = world.faults();
		this.history = world.history();
	}

	World toWorld() {
		return new World(this.time, this.back, this.store, this.saved, this.guard, List.copyOf(this.workers),
				this.faults, this.history);
	}

	void store(Transition<?> transition) {
		if (transition.isWrite()) {
			RunRow run = (transition.run() != null) ? transition.run() : this.store.run();
			this.store = new Store(unversioned(transition.lock()), run, this.store.writer());
		}
	}

	// each step is atomic here, so that no version has to be compared
	private static @Nullable LockRow unversioned(@Nullable LockRow row) {
		return (row != null) ? new LockRow(0, row.token(), row.nonce(), row.name(), row.owner(), row.unit(),
				row.attempt(), row.acquiredAt(), row.expiresAt(), row.tombstones(), row.buriedAt(), row.keptUntil())
				: null;
	}

	History history() {
		return this.history;
	}

	void granted(long token, boolean ordered) {
		History h = this.history;
		if (ordered && token <= h.last()) {
			broken("I1: token " + token + " was granted after " + h.last());
		}
		h = this.history;
		this.history = new History(token, h.registered(), h.written(), h.effects(), h.records(), h.open(), h.lost(),
				h.broken());
	}

	void registered(String nonce) {
		History h = this.history;
		this.history = new History(h.last(), nonce, h.written(), h.effects(), h.records(), h.open(), h.lost(),
				h.broken());
	}

	void wrote(String nonce) {
		History h = this.history;
		if (!h.registered().isEmpty() && !h.registered().equals(nonce)) {
			broken("I2: a write of grant " + nonce + " was accepted after the registration of " + h.registered());
		}
		h = this.history;
		this.history = new History(h.last(), h.registered(), h.written() + 1, h.effects(), h.records(), h.open(),
				h.lost(), h.broken());
		if (this.guard.value() != this.history.written()) {
			broken("I3: an update was lost: " + this.history.written() + " writes were accepted, and the value is "
					+ this.guard.value());
		}
	}

	void took() {
		History h = this.history;
		this.history = new History(h.last(), h.registered(), h.written(), h.effects() + 1, h.records(), h.open(),
				h.lost(), h.broken());
	}

	void began() {
		open(true, this.history.records());
	}

	void failed() {
		open(false, this.history.records());
	}

	void recorded() {
		open(false, this.history.records() + 1);
	}

	private void open(boolean open, int records) {
		History h = this.history;
		this.history = new History(h.last(), h.registered(), h.written(), h.effects(), records, open, h.lost(),
				h.broken());
	}

	void lost() {
		History h = this.history;
		this.history = new History(h.last(), h.registered(), h.written(), h.effects(), h.records(), h.open(), true,
				h.broken());
	}

	void broken(String property) {
		History h = this.history;
		if (h.broken().isEmpty()) {
			this.history = new History(h.last(), h.registered(), h.written(), h.effects(), h.records(), h.open(),
					h.lost(), property);
		}
	}

}
