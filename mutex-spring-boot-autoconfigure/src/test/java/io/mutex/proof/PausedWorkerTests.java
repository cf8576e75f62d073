package io.mutex.proof;

import java.nio.file.Path;
import java.sql.DriverManager;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Stream;

import io.mutex.FencingPolicy;
import io.mutex.proof.Guarding.Addresses;
import io.mutex.testing.Experiments;
import io.mutex.testing.JavaProcess;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Workers in processes of their own that are stopped for longer than their lease, and
 * write when they go on.
 */
@Tag("experiment")
class PausedWorkerTests {

	private static final int STOPS = Experiments.rounds(2, 100);

	private static final boolean FULL = STOPS > 2;

	@TempDir
	Path directory;

	private final ExecutorService threads = Executors.newCachedThreadPool();

	@Test
	@DisplayName("C69 C70 a worker stopped for longer than its lease is refused by the storage when it goes on")
	void stoppedWorkerIsRefused() {
		Set<Guarding> guardings = FULL ? EnumSet.allOf(Guarding.class) : EnumSet.of(Guarding.POSTGRESQL, Guarding.H2,
				Guarding.MARIADB_UNDER_REDIS, Guarding.REDIS, Guarding.FILE_UNDER_REDIS);
		for (List<Stops> played : playAll(guardings, Arrays.asList(Place.values()), FencingPolicy.STRICT)) {
			for (Stops stops : played) {
				assertThat(stops.outlasted()).as("stops that outlasted the lease, or the run is invalid")
					.isEqualTo(STOPS);
				assertThat(stops.accepted()).as("late writes that were accepted").isZero();
				assertThat(stops.history().stale()).as("writes of an earlier holder after one of a later").isZero();
				assertThat(stops.history().lost()).as("lost updates").isZero();
				assertThat(stops.history().shared()).as("tokens of two grants").isZero();
				assertThat(stops.inTime()).as("writes that the next holder waited for").isEqualTo(stops.awaited());
			}
			assertThat(played.stream().mapToInt(Stops::attempted).sum()).isPositive();
			assertThat(played.stream().mapToInt(Stops::refusedByStorage).sum()).as("refusals by the storage itself")
				.isPositive();
		}
	}

	@Test
	@DisplayName("C69 without fencing the same worker overwrites what its successor has written")
	void unfencedWorkerOverwrites() {
		for (List<Stops> played : playAll(EnumSet.of(Guarding.POSTGRESQL), List.of(Place.AFTER_READ),
				FencingPolicy.NONE)) {
			Stops stops = played.get(0);
			assertThat(stops.attempted()).isEqualTo(STOPS);
			assertThat(stops.accepted()).isEqualTo(STOPS);
			assertThat(stops.history().stale()).isEqualTo(STOPS);
			assertThat(stops.history().lost()).isEqualTo(STOPS);
		}
	}

	// in full, each place has a process of its own
	private List<List<Stops>> playAll(Set<Guarding> guardings, List<Place> places, FencingPolicy fencing) {
		List<CompletableFuture<List<Stops>>> all = new ArrayList<>();
		for (Guarding guarding : guardings) {
			all.add(CompletableFuture.supplyAsync(() -> play(guarding, places, fencing), this.threads));
		}
		return all.stream().map(CompletableFuture::join).toList();
	}

	private List<Stops> play(Guarding guarding, List<Place> places, FencingPolicy fencing) {
		List<String> keys = Stream.concat(Stream.of("warm"), places.stream().map((place) -> Stops.key(guarding, place)))
			.toList();
		Addresses addresses = guarding.prepare(this.directory, keys);
		String namespace = "proof-" + UUID.randomUUID();
		// the first to open an H2 is its server, and must not be the one that is stopped
		try (AutoCloseable open = keepOpen(addresses);
				GuardedWorker successor = new GuardedWorker(guarding, addresses, namespace, "successor")) {
			List<List<Place>> processes = FULL ? places.stream().map(List::of).toList() : List.of(places);
			List<CompletableFuture<List<Stops>>> all = processes.stream()
				.map((each) -> CompletableFuture.supplyAsync(() -> {
					try (JavaProcess paused = PausedWorker.start(guarding, addresses, namespace, fencing.mode())) {
						return each.stream()
							.map((place) -> new Stops(guarding, place, paused, successor, fencing, this.threads)
								.play(STOPS))
							.toList();
					}
				}, this.threads))
				.toList();
			List<Stops> played = all.stream().flatMap((each) -> each.join().stream()).toList();
			for (Stops stops : played) {
				Experiments.report("paused worker " + stops + ", fencing " + fencing.mode(), stops.figures());
			}
			return played;
		}
		catch (Exception ex) {
			throw new IllegalStateException(guarding + ": " + ex, ex);
		}
	}

	private static AutoCloseable keepOpen(Addresses addresses) throws Exception {
		return addresses.data().startsWith("jdbc:h2:") ? DriverManager.getConnection(addresses.data()) : () -> {
		};
	}

}
