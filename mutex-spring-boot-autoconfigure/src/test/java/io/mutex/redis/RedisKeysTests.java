package io.mutex.redis;

import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.lettuce.core.cluster.SlotHash;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link RedisKeys}.
 */
class RedisKeysTests {

	private static final List<String> NAMESPACES = List.of("app", "{", "}", "{}", "a{b}c", "a:1", "a%7B");

	@ParameterizedTest
	@ValueSource(strings = { "a", "order:{42}:x", "{}", "}{", "{", "}", "run:{x}", "é{ü}" })
	@DisplayName("C103 R11 all keys of a lock share a slot, whatever braces they hold")
	void allKeysOfALockShareASlot(String key) {
		for (String namespace : NAMESPACES) {
			RedisKeys keys = new RedisKeys("mutex", namespace);
			assertThat(keys.all(key).stream().map(SlotHash::getSlot).distinct()).hasSize(1);
		}
	}

	@Test
	@DisplayName("C103 the locks of a bucket share a slot, and buckets are spread over slots")
	void bucketsAreSpreadOverSlots() {
		RedisKeys keys = new RedisKeys("mutex", "app");
		Set<List<Integer>> slots = IntStream.range(0, 1000)
			.mapToObj((i) -> List.of(RedisKeys.bucket("key-" + i), SlotHash.getSlot(keys.lock("key-" + i))))
			.collect(Collectors.toSet());
		assertThat(slots).hasSize(RedisKeys.BUCKETS);
		assertThat(slots.stream().map((slot) -> slot.get(1)).distinct()).hasSize(RedisKeys.BUCKETS);
	}

	@Test
	void differentLocksHaveDifferentKeys() {
		Set<String> names = new HashSet<>();
		List<String> locks = List.of("a", "a:b", "lock:a", "runs:a", "held", "}:lock:a", "order:a", "A");
		for (String prefix : List.of("mutex", "mutex:app")) {
			for (String namespace : NAMESPACES) {
				for (String key : locks) {
					RedisKeys keys = new RedisKeys(prefix, namespace);
					Stream.of(keys.lock(key), keys.runs(key), keys.order(key), keys.shared(key))
						.forEach((name) -> assertThat(names.add(new String(name, StandardCharsets.UTF_8))).isTrue());
				}
			}
		}
	}

	@Test
	void storedFormatStays() {
		RedisKeys keys = new RedisKeys("mutex", "app{1}");
		assertThat(keys.all("job:{1}").stream().map(String::new)).containsExactly("mutex:{app%7B1%7D:0}:lock:job:{1}",
				"mutex:{app%7B1%7D:0}:held", "mutex:{app%7B1%7D:0}:runs:job:{1}", "mutex:{app%7B1%7D:0}:order:job:{1}",
				"mutex:{app%7B1%7D:0}:shared:job:{1}");
		assertThat(keys.channel("abc")).isEqualTo("mutex:{app%7B1%7D:next}:abc");
	}

}
