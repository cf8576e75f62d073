package io.mutex.engine;

import java.util.concurrent.locks.LockSupport;

/**
 * Takes the interrupts of a thread while it talks to a store, whose driver would refuse
 * to work for an interrupted thread, and gives them back when it is closed.
 */
final class DeferredInterrupt implements AutoCloseable {

	private boolean interrupted;

	DeferredInterrupt() {
		take();
	}

	/**
	 * Takes an interrupt that has arrived meanwhile.
	 */
	void take() {
		this.interrupted |= Thread.interrupted();
	}

	/**
	 * Waits, also if an interrupt arrives.
	 * @param nanos for how long
	 */
	void pause(long nanos) {
		long end = System.nanoTime() + nanos;
		for (long left = nanos; left > 0; left = end - System.nanoTime()) {
			LockSupport.parkNanos(left);
			take();
		}
	}

	@Override
	public void close() {
		take();
		if (this.interrupted) {
			Thread.currentThread().interrupt();
		}
	}

}
