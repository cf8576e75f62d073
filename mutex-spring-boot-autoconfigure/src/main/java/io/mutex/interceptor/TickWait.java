package io.mutex.interceptor;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * Lets a call that came a moment before its tick wait for it.
 *
 * @param clock the clock of the scheduler
 * @param pause waits for some time, or less
 */
record TickWait(InstantSource clock, Consumer<Duration> pause) {

	static TickWait onSystemClock() {
		return new TickWait(InstantSource.system(), (time) -> LockSupport.parkNanos(time.toNanos()));
	}

	/**
	 * Waits until a moment has come.
	 * @param moment the moment
	 * @return {@code false} if the thread was interrupted before; its flag is set
	 */
	boolean until(Instant moment) {
		Instant now = this.clock.instant();
		while (now.isBefore(moment)) {
			if (Thread.currentThread().isInterrupted()) {
				return false;
			}
			this.pause.accept(Duration.between(now, moment));
			now = this.clock.instant();
		}
		return true;
	}

}
