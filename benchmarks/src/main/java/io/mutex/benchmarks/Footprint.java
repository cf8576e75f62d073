package io.mutex.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import io.mutex.FencingPolicy;
import io.mutex.LockRequest;
import io.mutex.engine.LockEngine;

/**
 * What an application carries: the size of the jars, and memory for keys that it used
 * once.
 */
final class Footprint {

	private static final double MEGABYTE = 1024 * 1024;

	private Footprint() {
	}

	static void size(Scale scale, Servers servers, Results results) throws IOException {
		List<Path> jars = new ArrayList<>();
		for (String entry : System.getProperty("java.class.path").split(":")) {
			Path path = Path.of(entry);
			String name = path.getFileName().toString();
			if (name.startsWith("mutex-spring-boot-") && name.endsWith(".jar") && !name.endsWith("-tests.jar")) {
				jars.add(path);
			}
		}
		long bytes = 0;
		for (Path jar : jars) {
			bytes += Files.size(jar);
		}
		results.add(Target.atMost(0.5, "MB", "", "Size of the starter, its " + jars.size() + " jars",
				Spread.of(bytes / MEGABYTE)));
	}

	static void redis(Scale scale, Servers servers, Results results) throws Exception {
		try (RedisStore store = new RedisStore(servers.redis().host(), servers.redis().port())) {
			growth(scale, results, "Redis", store.mutex().engine());
		}
	}

	static void postgres(Scale scale, Servers servers, Results results) throws Exception {
		try (SqlStore store = new SqlStore(Servers.newDatabase(servers.postgres()), true)) {
			growth(scale, results, "PostgreSQL", store.mutex().engine());
		}
	}

	private static void growth(Scale scale, Results results, String store, LockEngine engine) {
		use(engine, 0, Math.min(1000, scale.keys()));
		long before = usedHeap();
		use(engine, 1000, scale.keys());
		double growth = (usedHeap() - before) / MEGABYTE;
		results.add(Target.atMost(5, "MB", "more heap",
				store + ", " + String.format("%,d", scale.keys()).replace(',', ' ') + " different keys, once each",
				Spread.of(Math.max(0, growth))));
	}

	private static void use(LockEngine engine, int from, int count) {
		for (int key = from; key < from + count; key++) {
			LockRequest request = LockRequest.of("once-" + key).withFencing(FencingPolicy.NONE);
			engine.<Boolean, RuntimeException>execute(request, (lease) -> true);
		}
	}

	private static long usedHeap() {
		Stream.generate(() -> true).limit(3).forEach((once) -> System.gc());
		return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
	}

}
