package io.mutex.proof;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.time.Duration;
import java.util.Locale;

import io.mutex.testing.Experiments;
import io.mutex.testing.JavaProcess;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Many keys that one process uses once each leave nothing in its memory.
 */
@Tag("experiment")
class ManyKeysTests {

	private static final int KEYS = Experiments.rounds(2_000, 1_000_000);

	private static final long MOST = 5 << 20;

	private static final Duration PATIENCE = Duration.ofHours(1);

	@ParameterizedTest
	@EnumSource(names = { "H2", "POSTGRESQL", "REDIS" })
	@DisplayName("C146 a million keys of a process leave nothing in its memory")
	void keysLeaveNothingBehind(Store store, @TempDir Path directory) throws Exception {
		String address = store.prepare(directory);
		// the database of H2 lives in the process that has opened it first: in this one
		try (Connection server = (store == Store.H2) ? DriverManager.getConnection(address) : null;
				JavaProcess user = JavaProcess.of(ManyKeys.class)
					.jvmArguments("-Xshare:auto")
					.start(store.name(), address, "many-keys-" + System.nanoTime(), Integer.toString(KEYS))) {
			String[] used = user.awaitLine("used", PATIENCE).split(" ");
			long grown = Long.parseLong(used[2]);
			assertThat(grown).isLessThan(MOST);
			Experiments.report("many keys on " + store,
					String.format(Locale.ROOT, "%d keys used once each in %s ms; heap %+d KiB after %d KiB", KEYS,
							used[1], grown / 1024, Long.parseLong(used[3]) / 1024));
		}
	}

}
