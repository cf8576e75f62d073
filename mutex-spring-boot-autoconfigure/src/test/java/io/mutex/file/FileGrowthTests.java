package io.mutex.file;

import java.io.FileOutputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import io.mutex.LockProvider.Grant;
import io.mutex.LockProvider.Renewal;
import io.mutex.LockProvider.Settlement;
import io.mutex.testing.Experiments;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the JVM still knows of files that it no longer holds.
 */
class FileGrowthTests {

	private static final int WARM_UP = 500;

	private static final long MEGABYTE = 1024 * 1024;

	@Test
	@Tag("experiment")
	@DisplayName("C146 many different files leave nothing behind in the JVM")
	void manyDifferentFilesLeaveNothingBehind(@TempDir(factory = MemoryDirectory.class) Path directory) {
		int keys = Experiments.rounds(1000, 100_000);
		FileLockProvider provider = FileFixture.provider(directory, new Unflushed());
		useOnce(provider, 0, WARM_UP);
		List<Integer> tables = tables();
		long before = usedHeap();
		useOnce(provider, WARM_UP, keys);
		long grown = usedHeap() - before;
		assertThat(tables()).isEqualTo(tables);
		assertThat(grown).isLessThan(5 * MEGABYTE);
		Experiments.report("different files", keys + " keys once each, heap grown by " + grown / 1024 + " kB");
	}

	private static void useOnce(FileLockProvider provider, int from, int count) {
		for (int i = from; i < from + count; i++) {
			String key = "key-" + i;
			if (i % 2 == 0) {
				Grant grant = FileFixture.grant(provider, key, "today");
				assertThat(provider.renew(List.of(grant))).containsExactly(Renewal.RENEWED);
				assertThat(provider.complete(grant, "today")).isEqualTo(Settlement.SETTLED);
			}
			else {
				Grant grant = FileFixture.share(provider, key, 2);
				Grant second = FileFixture.share(provider, key, 2);
				assertThat(provider.release(key, grant.nonce(), true)).isEqualTo(Settlement.SETTLED);
				assertThat(provider.release(key, second.nonce(), true)).isEqualTo(Settlement.SETTLED);
			}
		}
	}

	// what all class loaders share
	private static List<Integer> tables() {
		Object[] table = (Object[]) System.getProperties().get("io.mutex.file.locks");
		return List.of(((Map<?, ?>) table[1]).size(), ((Map<?, ?>) table[2]).size(), ((Map<?, ?>) table[3]).size());
	}

	private static long usedHeap() {
		MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
		for (int i = 0; i < 3; i++) {
			memory.gc();
		}
		return memory.getHeapMemoryUsage().getUsed();
	}

	/**
	 * A disk that is not asked to flush: its speed is not the question.
	 */
	private static final class Unflushed extends Durability {

		@Override
		void flush(FileOutputStream out) {
		}

		@Override
		void flushDirectory(Path directory) {
		}

	}

}
