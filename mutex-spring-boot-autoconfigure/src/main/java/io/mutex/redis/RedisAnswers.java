package io.mutex.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

import io.mutex.AcquireRequest;
import io.mutex.Acquisition;
import io.mutex.HeldLock;
import io.mutex.MutexException;
import io.mutex.Reopening;
import io.mutex.protocol.LockRow;
import io.mutex.protocol.Micros;
import io.mutex.protocol.RunRow;
import io.mutex.run.Owner;
import io.mutex.run.RunRecord;
import org.jspecify.annotations.Nullable;

/**
 * Reads the answers of the scripts.
 */
final class RedisAnswers {

	/**
	 * How many strings describe a lock.
	 */
	private static final int LOCK_LENGTH = 8;

	private static final int RECORD_LINES = 10;

	private RedisAnswers() {
	}

	static Acquisition acquisition(AcquireRequest request, List<String> answer) {
		return switch (answer.get(0)) {
			case "TAKEN" -> {
				long first = number(answer.get(1));
				yield new Acquisition.Granted(first, first + request.tokens() - 1, (request.unit() != null) ? 1 : 0,
						null);
			}
			case "GRANTED" -> new Acquisition.Granted(number(answer.get(1)), number(answer.get(2)),
					(int) number(answer.get(3)), answer.get(4).isEmpty() ? null : record(request, answer.get(4)));
			case "DONE" -> new Acquisition.Done(record(request, answer.get(1)));
			case "TOO_EARLY" -> new Acquisition.TooEarly(Micros.toDuration(number(answer.get(1))));
			case "STALE" -> new Acquisition.Stale();
			case "HELD" -> new Acquisition.Held(answer.get(1).isEmpty() ? null : Owner.parse(answer.get(1)),
					emptyToNull(answer.get(2)), Micros.toDuration(number(answer.get(3))));
			case "HELD_BACK" -> new Acquisition.HeldBack(Micros.toDuration(number(answer.get(1))));
			case "NOT_YET" ->
				new Acquisition.NotYet(record(request, answer.get(1)), Micros.toDuration(number(answer.get(2))));
			case "EXHAUSTED" -> throw new MutexException(request.key(),
					"no fencing token is left for key '" + request.key() + "' in redis: the next would be "
							+ answer.get(1) + ", and tokens end at 2^53; is the clock of the server right?");
			default -> throw new MutexException(request.key(),
					"redis gave an answer that is not known for key '" + request.key() + "': " + answer);
		};
	}

	static Reopening reopening(String key, String unit, List<String> answer) {
		Reopening.Result result = Reopening.Result.valueOf(answer.get(0));
		return switch (result) {
			case REOPENED -> new Reopening(result, run(key, unit, answer.get(1)), null);
			case NOTHING -> new Reopening(result, null, null);
			case HELD ->
				new Reopening(result, null, lock(key, answer.get(1), answer.subList(2, answer.size())).orElse(null));
		};
	}

	/**
	 * Reads who holds keys.
	 * @param keys the keys
	 * @param answer the server's time, and for each holder the index of its key and the
	 * strings that describe it
	 * @return the locks, one for each holder
	 */
	static List<HeldLock> locks(List<String> keys, List<String> answer) {
		List<HeldLock> locks = new ArrayList<>();
		for (int i = 1; i < answer.size(); i += 1 + LOCK_LENGTH) {
			lock(keys.get(Integer.parseInt(answer.get(i))), answer.get(0), answer.subList(i + 1, i + 1 + LOCK_LENGTH))
				.ifPresent(locks::add);
		}
		return locks;
	}

	/**
	 * Reads a lock.
	 * @param key its key
	 * @param now the server's time
	 * @param row the strings that describe it
	 * @return the lock, or empty if it is not held
	 */
	static Optional<HeldLock> lock(String key, String now, List<String> row) {
		return new LockRow(0, number(row.get(0)), row.get(1), row.get(3), Owner.parse(row.get(4)),
				emptyToNull(row.get(5)), (int) number(row.get(6)), number(row.get(7)), number(row.get(2)), "", 0, 0)
			.toHeldLock(key, number(now));
	}

	static RunRecord run(String key, String unit, String packed) {
		String[] lines = packed.split("\n", RECORD_LINES);
		if (lines.length < RECORD_LINES) {
			throw new MutexException(key, "redis holds a record of key '" + key + "' and unit '" + unit
					+ "' that cannot be read: '" + packed + "'; was it written by another version?");
		}
		return new RunRow(unit, RunRow.statusOf(lines[0]), number(lines[1]), lines[2], Owner.parse(lines[8]),
				(int) number(lines[3]), number(lines[4]), number(lines[5]), number(lines[6]),
				lines[0].equals("F") ? lines[9] : null, number(lines[7]))
			.toRecord(key);
	}

	private static RunRecord record(AcquireRequest request, String packed) {
		if (request.unit() == null) {
			throw new IllegalStateException("a record without a unit");
		}
		return run(request.key(), request.unit().id(), packed);
	}

	private static long number(String text) {
		return Long.parseLong(text);
	}

	private static @Nullable String emptyToNull(String text) {
		return text.isEmpty() ? null : text;
	}

}
