package io.mutex.model;

/**
 * A worker as it is between two steps.
 *
 * @param step what it does next
 * @param calls how many calls it has left, the present one not counted
 * @param nonce the nonce of its request, or empty
 * @param sent the tick at which the request was sent first
 * @param deadline the tick from which it does not believe in its lease
 * @param token the token it was granted
 * @param floor the token it was refused for by the guard
 * @param seen what it has read
 * @param doubt whether the grant came with a doubt
 * @param copy the nonce of a request that is still under way, or empty
 */
record Worker(Step step, int calls, String nonce, int sent, int deadline, long token, long floor, int seen,
		boolean doubt, String copy) {

	static Worker idle(int calls) {
		return new Worker(Step.IDLE, calls, "", 0, 0, 0, 0, 0, false, "");
	}

	Worker at(Step step) {
		return new Worker(step, this.calls, this.nonce, this.sent, this.deadline, this.token, this.floor, this.seen,
				this.doubt, this.copy);
	}

	Worker asking(String nonce, int time, Step step) {
		return new Worker(step, this.calls - 1, nonce, time, 0, 0, this.floor, 0, false, this.copy);
	}

	Worker granted(long token, boolean doubt) {
		return new Worker(Step.ANSWERED, this.calls, this.nonce, this.sent, 0, token, this.floor, 0, doubt, this.copy);
	}

	Worker believing(int deadline) {
		return new Worker(Step.GRANTED, this.calls, this.nonce, this.sent, deadline, this.token, this.floor, 0,
				this.doubt, this.copy);
	}

	Worker reading(int seen) {
		return new Worker(Step.WRITE, this.calls, this.nonce, this.sent, this.deadline, this.token, this.floor, seen,
				this.doubt, this.copy);
	}

	Worker refused(long floor) {
		return new Worker(Step.GIVE_BACK, this.calls + 1, this.nonce, this.sent, 0, this.token, floor, 0, this.doubt,
				this.copy);
	}

	Worker copied(String copy) {
		return new Worker(this.step, this.calls, this.nonce, this.sent, this.deadline, this.token, this.floor,
				this.seen, this.doubt, copy);
	}

	// forgets what no step looks at again
	Worker ended() {
		return new Worker((this.calls > 0) ? Step.IDLE : Step.GONE, this.calls, "", 0, 0, 0, this.floor, 0, false,
				this.copy);
	}

	boolean believes(int time) {
		return this.step.isHolding() && time < this.deadline;
	}

	/**
	 * What a worker does next.
	 */
	enum Step {

		IDLE, LOOK, ASK, ANSWERED, GRANTED, READ, WRITE, EFFECT, CHECK, COMMIT, SETTLE, RELEASE, GIVE_BACK, GONE;

		// from the receipt of the grant until the end is sent to the store
		boolean isHolding() {
			return this.compareTo(GRANTED) >= 0 && this.compareTo(RELEASE) <= 0;
		}

	}

}
