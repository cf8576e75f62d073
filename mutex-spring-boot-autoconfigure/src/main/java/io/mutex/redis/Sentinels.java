package io.mutex.redis;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;

import io.mutex.protocol.Micros;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What this instance has seen of the sentinel of each bucket. A server whose sentinel
 * says less has lost data: it grants nothing of the bucket for one longest lease, since
 * holders that it no longer knows may still be at work.
 * <p>
 * A server that this instance sees for the first time is not taken for one that has lost
 * data. A roll-back to an old copy shows while fewer grants were made since than were
 * lost.
 */
final class Sentinels {

	/**
	 * How many strings at the end of an answer tell of a sentinel.
	 */
	private static final int LENGTH = 3;

	private static final Logger logger = LoggerFactory.getLogger(Sentinels.class);

	private final AtomicReferenceArray<Sentinel> seen = new AtomicReferenceArray<>(
			Collections.nCopies(RedisKeys.BUCKETS, Sentinel.UNSEEN).toArray(Sentinel[]::new));

	private final AtomicLong longestLease = new AtomicLong();

	private final AtomicLong told = new AtomicLong();

	private volatile @Nullable String loss;

	/**
	 * What was seen of the sentinel of a bucket.
	 * @param bucket the bucket
	 * @return the latest state, or one of zeros
	 */
	Sentinel seen(int bucket) {
		return this.seen.get(bucket);
	}

	/**
	 * Learns of a lease that is asked for.
	 * @param ttl its length, in microseconds
	 * @return the longest lease that was ever asked for
	 */
	long longestLease(long ttl) {
		long longest = this.longestLease.get();
		return (ttl <= longest) ? longest : this.longestLease.accumulateAndGet(ttl, Math::max);
	}

	/**
	 * Learns from an answer.
	 * @param bucket the bucket of the key that was asked for
	 * @param told what the request told of its sentinel
	 * @param answer the whole answer
	 */
	void learn(int bucket, Sentinel told, List<String> answer) {
		if (answer.get(0).equals("TAKEN")) {
			see(bucket, new Sentinel(told.born, Long.parseLong(answer.get(2))));
			return;
		}
		List<String> end = answer.subList(answer.size() - LENGTH, answer.size());
		see(bucket, new Sentinel(Long.parseLong(end.get(0)), Long.parseLong(end.get(1))));
		if (answer.get(0).equals("HELD_BACK")) {
			tell(Long.parseLong(end.get(2)));
		}
	}

	// Answers may arrive in another order than they were given.
	private void see(int bucket, Sentinel sentinel) {
		this.seen.accumulateAndGet(bucket, sentinel, Sentinel::later);
	}

	/**
	 * The loss that was told of last.
	 * @return a sentence, or {@code null} if there was none
	 */
	@Nullable String loss() {
		return this.loss;
	}

	// Each bucket finds the same loss by itself.
	private void tell(long lost) {
		long longest = this.longestLease.get();
		long before = this.told.getAndAccumulate(lost, (last, found) -> (found > last + longest) ? found : last);
		if (lost > before + longest) {
			Duration lease = Micros.toDuration(longest);
			this.loss = "Redis had lost locks, and perhaps run records, when it was asked at " + Micros.toInstant(lost);
			logger
				.warn("Redis has lost locks: it was flushed, started without its data or from an old copy, or replaced"
						+ " by a replica that was behind. Their holders may still be at work, so that nothing is granted"
						+ " for {}, the longest lease. Run records may be lost as well, and their units run again."
						+ " provider=redis", lease);
		}
	}

	/**
	 * The state of a sentinel.
	 *
	 * @param born when it was made, by the server's clock
	 * @param grants how many grants it has counted
	 */
	record Sentinel(long born, long grants) {

		private static final Sentinel UNSEEN = new Sentinel(0, 0);

		private static Sentinel later(Sentinel before, Sentinel now) {
			return (before.born == now.born && before.grants > now.grants) ? before : now;
		}

	}

}
