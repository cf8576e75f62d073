package io.mutex.lab;

import java.util.ArrayList;
import java.util.List;

import io.mutex.lab.Event.Kind;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link Figures}.
 */
class FiguresTests {

	private final List<Event> events = new ArrayList<>();

	@Test
	void writeAfterALaterGrantIsStale() {
		add("a", 10, Kind.GRANTED, 1, "");
		add("b", 20, Kind.GRANTED, 2, "");
		add("a", 30, Kind.WRITE, 1, "7");
		add("a", 31, Kind.STALE, 1, "7");
		Figures figures = figures();
		assertThat(figures.attempted()).isOne();
		assertThat(figures.refused()).isOne();
		assertThat(figures.accepted()).isZero();
	}

	@Test
	void acceptedStaleWriteIsCounted() {
		add("a", 10, Kind.GRANTED, 1, "");
		add("b", 20, Kind.GRANTED, 2, "");
		add("a", 30, Kind.WRITE, 1, "7");
		add("a", 31, Kind.WROTE, 1, "7");
		assertThat(figures().accepted()).isOne();
	}

	@Test
	void staleWriteThatIsInTheDataWasAcceptedWhateverItsHolderHasHeard() {
		add("a", 10, Kind.GRANTED, 1, "");
		add("b", 20, Kind.GRANTED, 2, "");
		add("a", 30, Kind.WRITE, 1, "7");
		assertThat(figures(new Entry("key", 7, 1, "n1")).accepted()).isOne();
		assertThat(figures().unknown()).isOne();
		add("a", 31, Kind.DOUBTFUL, 1, "7");
		assertThat(figures(new Entry("key", 7, 1, "n1")).accepted()).isOne();
		assertThat(figures().unknown()).isOne();
	}

	@Test
	void writeThatBeganBeforeTheNextGrantIsNotStale() {
		add("a", 10, Kind.GRANTED, 1, "");
		add("a", 15, Kind.WRITE, 1, "7");
		add("b", 20, Kind.GRANTED, 2, "");
		add("a", 31, Kind.STALE, 1, "7");
		assertThat(figures().attempted()).isZero();
	}

	@Test
	void writeThatItsHolderKeepsBackIsNoAttemptBeforeItIsSent() {
		add("a", 10, Kind.GRANTED, 1, "");
		add("b", 20, Kind.GRANTED, 2, "");
		add("a", 30, Kind.WRITE, 1, "7");
		add("a", 31, Kind.LATE, 1, "7");
		assertThat(figures().keptBack()).isOne();
		assertThat(figures().attempted()).isZero();
		add("a", 40, Kind.WRITE, 1, "7");
		add("a", 41, Kind.STALE, 1, "7");
		assertThat(figures().attempted()).isOne();
	}

	@Test
	void doubtfulWritesAreLookedForInTheData() {
		add("a", 10, Kind.GRANTED, 1, "");
		add("a", 15, Kind.WRITE, 1, "7");
		add("a", 16, Kind.DOUBTFUL, 1, "7");
		assertThat(figures().doubtful()).isOne();
		assertThat(figures().done()).isZero();
		assertThat(figures(new Entry("key", 7, 1, "n1")).done()).isOne();
	}

	private void add(String process, long at, Kind kind, long token, String detail) {
		this.events.add(new Event(at, process, 1, kind, "key", "n" + token, token, detail));
	}

	private Figures figures(Entry... entries) {
		return Figures.of(new History(this.events, List.of(entries)), List.of());
	}

}
