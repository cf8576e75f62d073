package io.mutex.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import io.mutex.lab.Mutants.Finding;
import io.mutex.lab.Result.Verdict;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for {@link Mutant} and what plays them.
 */
class MutantTests {

	private static final Path SOURCES = Path.of("..", "mutex-spring-boot-autoconfigure", "src", "main");

	@ParameterizedTest
	@EnumSource
	void mutantFitsItsSource(Mutant mutant) throws IOException {
		Mutation mutation = mutant.mutation();
		String root = mutation.file().endsWith(".java") ? "java" : "resources";
		String source = Files.readString(SOURCES.resolve(root).resolve("io/mutex").resolve(mutation.file()));
		assertThat(mutation.apply(source)).isNotEqualTo(source);
	}

	@ParameterizedTest
	@EnumSource
	void mutantHasSomethingThatFindsIt(Mutant mutant) {
		Mutant.Finder finder = mutant.finder();
		assertThat(finder.tests().isEmpty()).isNotEqualTo(finder.scenarios().isEmpty());
		finder.scenarios().forEach((scenario) -> assertThat(scenario.providers()).contains(finder.provider()));
	}

	@Test
	void eachTextIsReplacedOnce() {
		Mutation mutation = Mutation.in("a.lua").replace("one", "two").replace("three", "");
		assertThat(mutation.apply("one three")).isEqualTo("two ");
	}

	@Test
	void textThatIsMissingOrThereTwiceDoesNotFit() {
		Mutation mutation = Mutation.in("a.lua").replace("one", "two");
		assertThatIllegalStateException().isThrownBy(() -> mutation.apply("three")).withMessageContaining("a.lua");
		assertThatIllegalStateException().isThrownBy(() -> mutation.apply("one one"));
	}

	@Test
	void tableSaysWhatHasFoundEach() {
		List<Finding> findings = List.of(new Finding(Mutant.SPLIT, Verdict.VIOLATED, "P1 on file: I4", 2_000_000_000L),
				new Finding(Mutant.UNFENCED, Verdict.VIOLATED, "a | b", 4_000_000_000L),
				new Finding(Mutant.CLIENT_CLOCK, Verdict.PASSED, "C1 on file", 0));
		assertThat(findings).extracting(Finding::line)
			.containsExactly("| SPLIT | each process has locks of its own | FOUND | P1 on file: I4 | 2.0 s |",
					"| UNFENCED | no write is checked | FOUND | a \\| b | 4.0 s |",
					"| CLIENT_CLOCK | the clock of the client decides whether a lease has ended | SURVIVED | C1 on file |  |");
		assertThat(Mutants.report(findings, new Play(15, 7))).contains("seed 7")
			.endsWith("\n2 of 3 mutants were found, half of them within 2.0 s.\n");
	}

}
