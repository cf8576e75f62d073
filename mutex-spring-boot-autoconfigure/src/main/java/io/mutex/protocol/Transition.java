package io.mutex.protocol;

import org.jspecify.annotations.Nullable;

/**
 * An answer, and what has to be stored in one atomic step before it may be given.
 *
 * @param <A> the type of the answer
 * @param answer the answer
 * @param lock the new row of the key, or {@code null} if it stays as it is
 * @param run a row of a unit to write, or {@code null}
 * @param forgotten the unit whose row is to be removed, or {@code null}
 */
public record Transition<A>(A answer, @Nullable LockRow lock, @Nullable RunRow run, @Nullable String forgotten) {

	Transition(A answer, @Nullable LockRow lock, @Nullable RunRow run) {
		this(answer, lock, run, null);
	}

	static <A> Transition<A> unchanged(A answer) {
		return new Transition<>(answer, null, null);
	}

	/**
	 * Whether there is something to store.
	 * @return {@code false} if the answer may be given as it is
	 */
	public boolean isWrite() {
		return this.lock != null;
	}

}
