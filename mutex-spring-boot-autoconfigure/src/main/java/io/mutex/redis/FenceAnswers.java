package io.mutex.redis;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import io.mutex.Fence;
import io.mutex.FencingToken;
import io.mutex.MutexException;
import io.mutex.StaleFencingTokenException;
import org.jspecify.annotations.Nullable;

/**
 * Reads the answers of the scripts that ask a guard, and their failures.
 */
final class FenceAnswers {

	private FenceAnswers() {
	}

	/**
	 * What the work gave.
	 * @param fence who asked
	 * @param guard the key of the guard
	 * @param answer the answer
	 * @return a string, a number, a list of such, or {@code null}
	 * @throws StaleFencingTokenException if a later grant has been accepted
	 * @throws MutexException if the grant was refused for another reason
	 */
	static @Nullable Object result(Fence fence, String guard, List<?> answer) {
		String verdict = String.valueOf(decoded(answer.get(0)));
		Object rest = (answer.size() > 1) ? decoded(answer.get(1)) : null;
		return switch (verdict) {
			case "ACCEPTED" -> rest;
			case "STALE" -> throw new StaleFencingTokenException(fence.resource(), fence.token(),
					new FencingToken(Long.parseLong(String.valueOf(rest))));
			case "FOREIGN" -> throw new MutexException(fence.key(),
					"resource '" + fence.resource() + "' in redis belongs to key '" + rest
							+ "', and was refused to key '" + fence.key()
							+ "': the tokens of two keys cannot be compared. If it is to change its key, delete '"
							+ guard + "' while nobody holds either");
			case "UNREGISTERED" -> throw new MutexException(fence.key(),
					"resource '" + fence.resource() + "' refused token " + fence.token() + " of key '" + fence.key()
							+ "': redis does not know that it was registered. Has the server lost its data,"
							+ " or does the lease not name the resource? Nothing was written");
			default -> throw new MutexException(fence.key(),
					"redis gave an answer that is not known for resource '" + fence.resource() + "': " + verdict);
		};
	}

	static MutexException failure(Fence fence, RuntimeException ex) {
		if (ex instanceof MutexException failure) {
			return failure;
		}
		String text = RedisFailures.texts(ex);
		String resource = "resource '" + fence.resource() + "'";
		if (RedisFailures.isSeveralSlots(text)) {
			return new MutexException(fence.key(),
					"nothing was written to " + resource + ": in a cluster all its keys must lie in its slot. Name them"
							+ " FencedRedisOperations.key(\"" + fence.resource() + "\", …), which begins with "
							+ FenceKeys.tag(fence.resource()) + " (" + text.strip() + ")",
					ex);
		}
		if (RedisFailures.isAnswer(ex)) {
			return new MutexException(fence.key(),
					"redis failed at " + resource + ", and what a script had written before stays: " + text.strip(),
					ex);
		}
		return new MutexException(fence.key(),
				"redis did not answer for " + resource + ", so that it may or may not have been written: "
						+ RedisFailures.remedy(text) + " (" + text.strip() + ")",
				ex);
	}

	private static @Nullable Object decoded(@Nullable Object value) {
		if (value instanceof byte[] bytes) {
			return new String(bytes, StandardCharsets.UTF_8);
		}
		if (value instanceof List<?> values) {
			List<@Nullable Object> list = new ArrayList<>(values.size());
			values.forEach((element) -> list.add(decoded(element)));
			return list;
		}
		return value;
	}

}
