package io.mutex.lab;

import io.mutex.LeaseLostException;
import io.mutex.StaleFencingTokenException;

/**
 * One line of a history.
 *
 * @param at the monotonic time, which is the same for all processes of a host, in
 * nanoseconds
 * @param process who has written it
 * @param attempt what one call of that process is known by
 * @param kind what happened
 * @param key the key
 * @param nonce the nonce of the grant, empty before it
 * @param token the token of the grant, 0 before it
 * @param detail more, without tabs
 */
public record Event(long at, String process, long attempt, Kind kind, String key, String nonce, long token,
		String detail) {

	static Event parse(String line) {
		String[] fields = line.split("\t", -1);
		return new Event(Long.parseLong(fields[0]), fields[1], Long.parseLong(fields[2]), Kind.valueOf(fields[3]),
				fields[4], fields[5], Long.parseLong(fields[6]), fields[7]);
	}

	String format() {
		return String.join("\t", Long.toString(this.at), this.process, Long.toString(this.attempt), this.kind.name(),
				this.key, this.nonce, Long.toString(this.token), this.detail.replaceAll("\\s+", " "));
	}

	Event at(long time) {
		return new Event(time, this.process, this.attempt, this.kind, this.key, this.nonce, this.token, this.detail);
	}

	/**
	 * Whether a lease was lost, as its holder has seen, heard from the library or from
	 * the storage.
	 * @return {@code false} if something else has ended the call
	 */
	boolean isLoss() {
		boolean said = this.detail.isEmpty() || this.detail.startsWith(LeaseLostException.class.getName())
				|| this.detail.startsWith(StaleFencingTokenException.class.getName());
		return this.kind == Kind.STALE || (this.kind == Kind.LOST && said);
	}

	/**
	 * What names the guarded write that the event is about.
	 * @return the name, as that of {@link Entry#written()}
	 */
	String written() {
		return this.key + " " + this.detail + " " + this.nonce;
	}

	/**
	 * What names the call over all processes.
	 * @return the name
	 */
	String call() {
		return this.process + "#" + this.attempt;
	}

	/**
	 * What happened.
	 */
	public enum Kind {

		/** Acquisition: invoked. */
		ACQUIRE,
		/** Acquisition: ok, the body has begun. */
		GRANTED,
		/** Acquisition: fail, the key is held. */
		REFUSED,
		/** Acquisition: unknown, the store did not answer. */
		UNKNOWN,
		/** The lease was valid at this time or later, by the clock of the holder. */
		VALID,
		/** The lease was not valid, or the call said so. */
		LOST,
		/** The body has ended, and with it the right to the key; release follows. */
		END,
		/** Release: ok, the call has returned. */
		RELEASED,
		/** Guarded read: ok; how many milliseconds the holder stays before it writes. */
		READ,
		/** Guarded write: invoked. */
		WRITE,
		/** Guarded write: ok. */
		WROTE,
		/** Guarded write: fail, the storage has refused the token. */
		STALE,
		/** Guarded write: not sent, since the holder knew that its lease was lost. */
		LATE,
		/** Guarded write: unknown. */
		DOUBTFUL,
		/** Renewal or release by another than the owner: the owner before and after. */
		FOREIGN,
		/** A listing: the owner before and after. */
		LISTED,
		/** The effect of a run whose unit is the detail. */
		EFFECT,
		/** The record of a run whose unit is the detail. */
		RECORDED,
		/** A run was skipped, since its unit, the detail, had been done. */
		SKIPPED,
		/** A fault begins: its name. */
		FAULT,
		/** The fault is over. */
		HEALED,
		/**
		 * The process of this name is dead: when the command that killed it was given.
		 */
		KILLED

	}

}
