package io.mutex.model;

import java.util.List;

import io.mutex.protocol.LockRow;
import io.mutex.protocol.RunRow;
import org.jspecify.annotations.Nullable;

/**
 * Everything there is at one moment.
 *
 * @param time the true time, in ticks; clients measure it rightly
 * @param back by how many ticks the clock of the store is behind
 * @param store the store
 * @param saved what the store falls back to if it loses its data
 * @param guard the guard and the data behind it, in a store of their own
 * @param workers the workers
 * @param faults how much may still go wrong
 * @param history what has happened, as far as the properties ask
 */
record World(int time, int back, Store store, Store saved, Guard guard, List<Worker> workers, Faults faults,
		History history) {

	/**
	 * The rows of the key, and the worker whose open transaction has written the row of
	 * the lock, or -1.
	 */
	record Store(@Nullable LockRow lock, @Nullable RunRow run, int writer) {

	}

	/**
	 * The grant that is accepted, and the guarded number.
	 */
	record Guard(long token, String nonce, int value) {

	}

	/**
	 * How often each fault may still come.
	 */
	record Faults(int ticks, int lostAnswers, int copies, int crashes, int losses, boolean clockBack) {

	}

	/**
	 * What the properties compare.
	 *
	 * @param last the token granted last
	 * @param registered the nonce registered last
	 * @param written how many writes were accepted
	 * @param effects how many effects of the unit there are
	 * @param records how many runs were recorded
	 * @param open whether a run has begun and none has ended with an outcome since
	 * @param lost whether the store has lost data
	 * @param broken the property that was broken in a step, or empty
	 */
	record History(long last, String registered, int written, int effects, int records, boolean open, boolean lost,
			String broken) {

	}

}
