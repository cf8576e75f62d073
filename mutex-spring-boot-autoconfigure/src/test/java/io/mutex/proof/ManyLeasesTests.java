package io.mutex.proof;

import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import io.mutex.testing.Experiments;
import io.mutex.testing.JavaProcess;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Many leases that one process holds at once: none is lost, and the batches in which they
 * are renewed are full.
 */
@Tag("experiment")
class ManyLeasesTests {

	private static final int LEASES = Experiments.rounds(1_000, 10_000);

	private static final Duration LEASE = Duration.ofSeconds(Experiments.rounds(15, 30));

	private static final Duration MEASURED = Duration.ofSeconds(Experiments.rounds(6, 300));

	private static final int BATCH = 500;

	/**
	 * Batches under way at each end of the time, and before the leases have come
	 * together.
	 */
	private static final int MORE = Experiments.rounds(4, 2);

	private static final Map<Store, JavaProcess> holders = new EnumMap<>(Store.class);

	@BeforeAll
	static void start(@TempDir Path directory) {
		for (Store store : List.of(Store.POSTGRESQL, Store.REDIS)) {
			holders.put(store,
					JavaProcess.of(ManyLeases.class)
						.jvmArguments("-Xshare:auto")
						.start(store.name(), store.prepare(directory), "many-leases-" + System.nanoTime(),
								Integer.toString(LEASES), LEASE.toString(), MEASURED.toString(),
								Integer.toString(Experiments.rounds(1, 2))));
		}
	}

	@AfterAll
	static void stop() {
		holders.values().forEach(JavaProcess::close);
	}

	@ParameterizedTest
	@EnumSource(names = { "POSTGRESQL", "REDIS" })
	void noneIsLostAndBatchesAreFull(Store store) {
		JavaProcess holder = holders.get(store);
		holder.awaitLine("held", Site.PATIENCE.multipliedBy(5));
		String[] measured = holder.awaitLine("measured", MEASURED.plus(Site.PATIENCE.multipliedBy(5))).split(" ");
		int batches = Integer.parseInt(measured[1]);
		int renewed = Integer.parseInt(measured[2]);
		assertThat(measured[3]).as("lost").isEqualTo("0");
		assertThat(measured[4]).as("known to the store").isEqualTo(Integer.toString(LEASES));
		assertThat(renewed).isGreaterThanOrEqualTo(LEASES);
		assertThat(batches - MORE).isLessThanOrEqualTo(renewed / BATCH);
		assertThat(holder.awaitLine("released", Site.PATIENCE.multipliedBy(5))).isEqualTo("released 0 0");
		Experiments.report("many leases on " + store,
				LEASES + " leases of " + LEASE.toSeconds() + " s held for " + MEASURED.toSeconds() + " s, 0 lost; "
						+ renewed + " renewals in " + batches + " batches, "
						+ String.format(Locale.ROOT, "%.1f", (double) batches * LEASES / renewed)
						+ " for each round of all leases; " + measured[5] + " % of one processor, "
						+ Long.parseLong(measured[6]) / LEASES + " bytes of heap for each lease");
	}

}
