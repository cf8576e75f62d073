package io.mutex.lab;

import io.mutex.Lease;
import io.mutex.lab.Event.Kind;
import org.jspecify.annotations.Nullable;

/**
 * One call of a worker, which writes its history. What precedes an action is timed before
 * it, and what follows after it.
 */
public final class Call {

	private final Recorder recorder;

	private final long attempt;

	private final String key;

	private @Nullable Lease lease;

	Call(Recorder recorder, long attempt, String key) {
		this.recorder = recorder;
		this.attempt = attempt;
		this.key = key;
	}

	/**
	 * Writes down that the body has begun.
	 * @param lease what it holds
	 */
	public void granted(Lease lease) {
		this.lease = lease;
		record(Kind.GRANTED, "");
	}

	public String key() {
		return this.key;
	}

	public boolean hasBegun() {
		return this.lease != null;
	}

	/**
	 * Writes down what happens now.
	 * @param kind what
	 * @param detail more
	 */
	public void record(Kind kind, Object detail) {
		record(System.nanoTime(), kind, detail);
	}

	/**
	 * Asks the lease whether it is valid, and writes down the answer with a time that is
	 * not later.
	 * @return the answer
	 */
	public boolean isValid() {
		long before = System.nanoTime();
		boolean valid = this.lease != null && this.lease.isValid();
		record(before, valid ? Kind.VALID : Kind.LOST, "");
		return valid;
	}

	private void record(long at, Kind kind, Object detail) {
		Lease current = this.lease;
		this.recorder.write(new Event(at, this.recorder.process(), this.attempt, kind, this.key,
				(current != null) ? current.nonce() : "", (current != null) ? current.token().value() : 0,
				detail.toString()));
	}

}
