package io.mutex.run;

import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * The firings of a schedule.
 */
public interface Ticks {

	/**
	 * The first tick after a moment.
	 * @param moment the moment
	 * @return the tick, or {@code null} if there is none
	 */
	@Nullable Instant next(Instant moment);

	/**
	 * The last tick that is not after a moment.
	 * @param moment the moment
	 * @return the tick, or {@code null} if there is none
	 */
	@Nullable Instant previousOrSame(Instant moment);

	/**
	 * The ticks of several schedules.
	 * @param schedules the schedules
	 * @return their union
	 */
	static Ticks union(List<? extends Ticks> schedules) {
		List<Ticks> parts = List.copyOf(schedules);
		return (parts.size() == 1) ? parts.get(0) : new Ticks() {

			@Override
			public @Nullable Instant next(Instant moment) {
				return present(parts.stream().map((part) -> part.next(moment))).min(Comparator.naturalOrder())
					.orElse(null);
			}

			@Override
			public @Nullable Instant previousOrSame(Instant moment) {
				return present(parts.stream().map((part) -> part.previousOrSame(moment))).max(Comparator.naturalOrder())
					.orElse(null);
			}

		};
	}

	private static Stream<Instant> present(Stream<@Nullable Instant> ticks) {
		return ticks.filter(Objects::nonNull).map(Objects::requireNonNull);
	}

}
