package io.mutex.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import javax.tools.ToolProvider;

import io.mutex.lab.Result.Verdict;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link TestRun} and {@link Outcome}.
 */
class TestRunTests {

	private static final String SAMPLE = Sample.class.getName();

	@BeforeAll
	static void setClassPath() {
		System.setProperty(TestRun.CLASS_PATH,
				System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")));
	}

	@AfterAll
	static void clearClassPath() {
		System.clearProperty(TestRun.CLASS_PATH);
	}

	@Test
	void everyEndIsTold() throws IOException {
		List<String> selectors = List.of(SAMPLE, SAMPLE + "#passes", SAMPLE + "#passesForOneOfTwo",
				SAMPLE + "#lacksAProgram", SAMPLE + "#isNotThere", "io.mutex.lab.Missing", SAMPLE + "$Broken");
		Outcome all = TestRun.of(selectors, List.of());
		assertThat(all.found()).isEqualTo(7);
		assertThat(all.passed()).isEqualTo(3);
		assertThat(all.failed()).extracting(Outcome.Test::name)
			.containsExactlyInAnyOrder("Sample#passesForOneOfTwo [2] number = 2", "Sample$Broken");
		assertThat(all.failed()).extracting(Outcome.Test::message).containsExactlyInAnyOrder("two lines", "no server");
		assertThat(all.skipped()).extracting(Outcome.Test::message)
			.anySatisfy((message) -> assertThat(message).contains("strace is not there"))
			.anySatisfy((message) -> assertThat(message).contains("not now"));
		assertThat(selectors).extracting((selector) -> all.of(List.of(selector)).verdict())
			.containsExactly(Verdict.VIOLATED, Verdict.PASSED, Verdict.VIOLATED, Verdict.SKIPPED, Verdict.INVALID,
					Verdict.INVALID, Verdict.VIOLATED);
		assertThat(all.of(List.of(SAMPLE + "#passes")).found()).isOne();
	}

	@Test
	void jvmThatDiesFailsWhatHadNotEnded() throws IOException {
		List<String> selectors = List.of(SAMPLE + "#passes", SAMPLE + "$Dying");
		Outcome outcome = TestRun.of(selectors, List.of());
		assertThat(outcome.of(selectors.subList(0, 1)).verdict()).isEqualTo(Verdict.PASSED);
		assertThat(outcome.of(selectors.subList(1, 2)).failed()).singleElement()
			.satisfies((test) -> assertThat(test.message()).contains("did not end by itself"));
	}

	@Test
	void preferredClassesComeFirst(@TempDir Path directory) throws IOException {
		Path source = Files.writeString(directory.resolve("Sample.java"), """
				package io.mutex.lab;
				class Sample {
					@org.junit.jupiter.api.Test
					void passes() {
						throw new AssertionError("preferred");
					}
				}
				""");
		ToolProvider.getSystemJavaCompiler()
			.run(null, null, null, "-proc:none", "-d", directory.toString(), "-classpath",
					System.getProperty(TestRun.CLASS_PATH), source.toString());
		Outcome outcome = TestRun.of(List.of(SAMPLE + "#passes"), List.of(directory));
		assertThat(outcome.failed()).singleElement()
			.satisfies((test) -> assertThat(test.message()).isEqualTo("preferred"));
	}

}
