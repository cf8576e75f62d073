package io.mutex.file;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.mutex.MutexException;
import io.mutex.StaleFencingTokenException;
import io.mutex.testing.Experiments;
import io.mutex.testing.FixedLease;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link LockedFile} with processes that compete, stand still and die.
 */
class LockedFileProcessTests {

	private static final String KEY = "account:42";

	@TempDir(factory = MemoryDirectory.class)
	@SuppressWarnings("NullAway.Init")
	private Path directory;

	@SuppressWarnings("NullAway.Init")
	private Path file;

	@BeforeEach
	void nameTheFile() {
		this.file = this.directory.resolve("ledger.txt");
	}

	@Test
	void noLineOfFourProcessesIsLost() throws IOException {
		int lines = Experiments.rounds(250, 2500);
		List<LockedFileChild> children = LockedFileChild.start(4);
		try {
			for (int i = 0; i < 4; i++) {
				children.get(i).send("append", this.file.toString(), "child" + i, Integer.toString(lines));
			}
			assertThat(children).extracting(LockedFileChild::answer).containsOnly("done");
		}
		finally {
			children.forEach(LockedFileChild::close);
		}
		List<String> written = Files.readAllLines(this.file);
		assertThat(written).hasSize(4 * lines).doesNotHaveDuplicates();
		Map<String, List<String>> byChild = written.stream()
			.collect(Collectors.groupingBy((line) -> line.substring(0, line.indexOf('-'))));
		for (int i = 0; i < 4; i++) {
			String prefix = "child" + i + "-";
			assertThat(byChild.get("child" + i))
				.containsExactlyElementsOf(IntStream.range(0, lines).mapToObj((n) -> prefix + n).toList());
		}
	}

	@Test
	void noUpdateOfFourProcessesIsLost() throws IOException {
		int updates = Experiments.rounds(250, 2500);
		List<LockedFileChild> children = LockedFileChild.start(4);
		try {
			children.forEach((child) -> child.send("count", this.file.toString(), Integer.toString(updates)));
			assertThat(children).extracting(LockedFileChild::answer).containsOnly("done");
		}
		finally {
			children.forEach(LockedFileChild::close);
		}
		assertThat(this.file).hasContent(Integer.toString(4 * updates));
	}

	@Test
	@DisplayName("C69 a process that was stopped after it read cannot overwrite what its successor wrote")
	void stoppedProcessIsRefused() {
		try (LockedFileChild stopped = LockedFileChild.start()) {
			assertThat(stopped.ask("replace", this.file.toString(), KEY, "1", "100")).isEqualTo("done");
			assertThat(stopped.ask("read", this.file.toString(), KEY, "1")).isEqualTo("100");
			stopped.process().pause();
			LockedFile.replace(this.file, bytes("150"), new FixedLease(KEY, 2, "nonce-2"));
			stopped.process().resume();
			assertThat(stopped.ask("replace", this.file.toString(), KEY, "1", "90"))
				.contains(StaleFencingTokenException.class.getName())
				.contains("refused fencing token 1: it has accepted 2");
			assertThat(stopped.ask("read", this.file.toString(), KEY, "1"))
				.contains(StaleFencingTokenException.class.getName());
		}
		assertThat(this.file).hasContent("150");
	}

	@Test
	@DisplayName("C70 a process that is stopped between check and write keeps its successor waiting, and killed it has written nothing")
	void successorWaitsForAStoppedWrite() {
		LockedFiles impatient = new LockedFiles(new Durability(), Duration.ofMillis(50));
		FixedLease successor = new FixedLease(KEY, 2, "nonce-2");
		try (LockedFileChild stopped = LockedFileChild.start()) {
			stopped.send("stay", this.file.toString(), KEY, "1", "90");
			stopped.awaitInside();
			stopped.process().pause();
			assertThatExceptionOfType(MutexException.class)
				.isThrownBy(() -> impatient.update(this.file, successor, (old) -> bytes("150")))
				.withMessageContaining("has been locked for PT0.05S by others")
				.withMessageContaining(this.file.getFileName().toString());
			assertThatExceptionOfType(MutexException.class).isThrownBy(() -> impatient.read(this.file));
			stopped.process().kill();
			LockedFile.replace(this.file, bytes("150"), successor);
		}
		assertThat(this.file).hasContent("150");
	}

	@Test
	@DisplayName("C70 a write that was stopped after its check is seen by the successor")
	void successorSeesAWriteThatWasStopped() {
		try (LockedFileChild stopped = LockedFileChild.start()) {
			stopped.send("stay", this.file.toString(), KEY, "1", "90");
			stopped.awaitInside();
			stopped.process().pause();
			stopped.process().resume();
			stopped.send("go on");
			assertThat(stopped.answer()).isEqualTo("done");
			assertThat(LockedFile.read(this.file, new FixedLease(KEY, 2, "nonce-2"))).asString().isEqualTo("90");
		}
	}

	@Test
	@DisplayName("P12 a process that dies between fence and content leaves the old content, and the older token is refused")
	void deathBetweenFenceAndContentLeavesTheOldContent() {
		FixedLease older = new FixedLease(KEY, 1, "nonce-1");
		LockedFile.replace(this.file, bytes("100"), older);
		try (LockedFileChild child = LockedFileChild.start()) {
			child.send("halt-after-fence", this.file.toString(), KEY, "2", "150");
			assertThat(child.process().awaitExit(Duration.ofSeconds(60))).isEqualTo(7);
		}
		assertThat(this.file).hasContent("100");
		assertThatExceptionOfType(StaleFencingTokenException.class)
			.isThrownBy(() -> LockedFile.replace(this.file, bytes("90"), older));
		assertThat(LockedFile.read(this.file, new FixedLease(KEY, 2, "nonce-2"))).asString().isEqualTo("100");
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

}
