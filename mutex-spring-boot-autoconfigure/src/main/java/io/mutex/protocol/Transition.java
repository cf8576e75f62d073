package io.mutex.protocol;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * An answer, and what has to be stored in one atomic step before it may be given.
 *
 * @param <A> the type of the answer
 * @param answer the answer
 * @param lock the new row of the key, or {@code null} if it stays as it is
 * @param run a row of a unit to write, or {@code null}
 * @param forgotten the unit whose row is to be removed, or {@code null}
 * @param shared the rows of all who hold the key together from now on, or {@code null} if
 * these stay as they are
 */
public record Transition<A>(A answer, @Nullable LockRow lock, @Nullable RunRow run, @Nullable String forgotten,
		@Nullable List<LockRow> shared) {

	Transition(A answer, @Nullable LockRow lock, @Nullable RunRow run) {
		this(answer, lock, run, null, null);
	}

	static <A> Transition<A> unchanged(A answer) {
		return new Transition<>(answer, null, null);
	}

	static <A> Transition<A> sharing(A answer, LockRow lock, @Nullable RunRow run, List<LockRow> shared) {
		return new Transition<>(answer, lock, run, null, List.copyOf(shared));
	}

	/**
	 * Whether there is something to store.
	 * @return {@code false} if the answer may be given as it is
	 */
	public boolean isWrite() {
		return this.lock != null;
	}

	/**
	 * Whether the row of the key is all there is to store.
	 * @return {@code false} if other rows change with it
	 */
	public boolean isSingle() {
		return this.lock != null && this.run == null && this.forgotten == null && this.shared == null;
	}

}
