package io.mutex.interceptor;

import io.mutex.run.Attempts;
import io.mutex.run.RunUnit;
import org.jspecify.annotations.Nullable;

/**
 * What a call that the starter makes itself is for. It is bound to the thread until the
 * interceptor takes it.
 *
 * @param operation the job
 * @param key the key
 * @param unit the unit
 * @param attempts which attempt of the unit it is
 * @param bean the proxy to call
 * @param unanswered how many calls before this one have failed without an attempt
 * @param looks how many calls in a row before this one have found the key held
 */
record Ticket(SingleRunOperation operation, String key, RunUnit unit, Attempts attempts, Object bean, int unanswered,
		int looks) {

	private static final ThreadLocal<@Nullable Ticket> CURRENT = new ThreadLocal<>();

	/**
	 * Takes the ticket of the current call.
	 * @param operation the job that is called
	 * @return the ticket, or {@code null} if others have called it
	 */
	static @Nullable Ticket take(SingleRunOperation operation) {
		Ticket ticket = CURRENT.get();
		if (ticket == null || !ticket.operation().declaration().equals(operation.declaration())) {
			return null;
		}
		CURRENT.remove();
		return ticket;
	}

	/**
	 * Calls the method with this ticket.
	 * @throws Throwable what it throws
	 */
	void call() throws Throwable {
		CURRENT.set(this);
		try {
			BeanMethod.call(this.bean, this.operation.declaration());
		}
		finally {
			CURRENT.remove();
		}
	}

	/**
	 * The ticket of another attempt.
	 * @param attempt the number that the attempt must have
	 * @param held whether this one has found the key held
	 * @return the ticket
	 */
	Ticket repeated(int attempt, boolean held) {
		return new Ticket(this.operation, this.key, this.unit, this.attempts.repeated(attempt), this.bean,
				this.unanswered, held ? this.looks + 1 : 0);
	}

	/**
	 * The ticket after a call that has failed without an attempt, which no store counts.
	 * @return the ticket
	 */
	Ticket withoutAnswer() {
		return new Ticket(this.operation, this.key, this.unit, this.attempts, this.bean, this.unanswered + 1,
				this.looks);
	}

}
