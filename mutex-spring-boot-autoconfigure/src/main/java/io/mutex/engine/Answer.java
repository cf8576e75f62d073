package io.mutex.engine;

import io.mutex.Acquisition;
import org.jspecify.annotations.Nullable;

/**
 * The answer to a request for a key.
 *
 * @param acquisition what the store said, or would have said
 * @param turn the part in a grant of the store, if the key was granted
 * @param askedAgain whether an earlier request may still be under way
 */
record Answer(Acquisition acquisition, @Nullable Turn turn, boolean askedAgain) {

	static Answer refused(Acquisition acquisition) {
		return new Answer(acquisition, null, false);
	}

	static Answer handed(Turn turn) {
		return new Answer(new Acquisition.Granted(turn.token(), turn.token(), 0, null), turn, false);
	}

	// as MutexListener#acquisition names it
	String outcome() {
		if (this.acquisition instanceof Acquisition.Granted) {
			return "granted";
		}
		if (this.acquisition instanceof Acquisition.Held) {
			return "held";
		}
		if (this.acquisition instanceof Acquisition.HeldBack) {
			return "held_back";
		}
		if (this.acquisition instanceof Acquisition.Done) {
			return "done";
		}
		if (this.acquisition instanceof Acquisition.NotYet) {
			return "not_yet";
		}
		return (this.acquisition instanceof Acquisition.TooEarly) ? "too_early" : "error";
	}

}
