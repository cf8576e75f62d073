package io.mutex;

/**
 * The number of a grant: for one key, every later grant has a higher one. A storage that
 * remembers the highest token it has seen can refuse the work of an earlier holder.
 *
 * @param value the number, {@code 0 < value < 2^53}
 * @see <a href=
 * "https://martin.kleppmann.com/2016/02/08/how-to-do-distributed-locking.html"> Martin
 * Kleppmann, How to do distributed locking</a>
 */
public record FencingToken(long value) implements Comparable<FencingToken> {

	/**
	 * The first number that is not a token: 2^53, up to which doubles are exact.
	 */
	public static final long LIMIT = 1L << 53;

	public FencingToken {
		if (value <= 0 || value >= LIMIT) {
			throw new IllegalArgumentException("a fencing token lies between 1 and 2^53 - 1, but was " + value);
		}
	}

	@Override
	public int compareTo(FencingToken other) {
		return Long.compare(this.value, other.value);
	}

	@Override
	public String toString() {
		return Long.toString(this.value);
	}

}
