package io.mutex.engine;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;

import io.mutex.LockRequest;
import io.mutex.memory.MemoryLockProvider;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the engine still knows of keys that are no longer held.
 */
class GrowthTests {

	private static final int KEYS = 20_000;

	private static final int HELD = 20;

	@Test
	@DisplayName("C146 many different keys leave nothing behind, and the held ones stay held")
	void manyDifferentKeysLeaveNothingBehind() throws Exception {
		MemoryLockProvider store = new MemoryLockProvider();
		try (Engines engines = new Engines(); LockEngine engine = Engines.engine(store, TimeSource.SYSTEM)) {
			CountDownLatch held = new CountDownLatch(HELD);
			CountDownLatch free = new CountDownLatch(1);
			List<Future<?>> holders = new ArrayList<>();
			for (int i = 0; i < HELD; i++) {
				LockRequest request = LockRequest.of("held" + i).withLease(Duration.ofSeconds(5));
				holders.add(engines.threads.submit(() -> engine.execute(request, (lease) -> {
					held.countDown();
					Engines.await(free);
					return null;
				})));
			}
			Engines.await(held);
			for (int i = 0; i < KEYS; i++) {
				LockRequest request = LockRequest.of("key" + i).withWaitFor(Duration.ofSeconds((i % 2 == 0) ? 0 : 5));
				engine.execute(request, (lease) -> null);
			}
			assertThat(engine.leases()).hasSize(HELD);
			assertThat(store.locks(KEYS)).hasSize(HELD);
			free.countDown();
			for (Future<?> holder : holders) {
				holder.get();
			}
			assertThat(store.locks(KEYS)).isEmpty();
			List<String> left = new ArrayList<>();
			collect(engine, Collections.newSetFromMap(new IdentityHashMap<>()), left);
			assertThat(left).isEmpty();
		}
	}

	// Every map and collection that the engine's own classes refer to, if not empty.
	private static void collect(Object object, Set<Object> seen, List<String> left) throws IllegalAccessException {
		if (!object.getClass().getName().startsWith(LockEngine.class.getPackageName()) || !seen.add(object)) {
			return;
		}
		for (Field field : object.getClass().getDeclaredFields()) {
			if (Modifier.isStatic(field.getModifiers()) || field.getType().isPrimitive()) {
				continue;
			}
			field.setAccessible(true);
			Object value = field.get(object);
			String name = object.getClass().getSimpleName() + "." + field.getName();
			if ((value instanceof Map<?, ?> map && !map.isEmpty())
					|| (value instanceof Collection<?> collection && !collection.isEmpty())) {
				left.add(name);
			}
			else if (value != null) {
				collect(value, seen, left);
			}
		}
	}

}
