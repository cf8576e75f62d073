package io.mutex.sample;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import org.springframework.util.ClassUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the command that starts the sample with a server of its own.
 */
class MainClassTests {

	@Test
	void testRunFindsOneMainClass() throws Exception {
		Path classes = Path.of(TestSampleApplication.class.getProtectionDomain().getCodeSource().getLocation().toURI());
		assertThat(mainClasses(classes)).containsExactly(TestSampleApplication.class);
	}

	private static Stream<Class<?>> mainClasses(Path classes) throws IOException {
		try (Stream<Path> files = Files.walk(classes)) {
			return files.map((file) -> classes.relativize(file).toString())
				.filter((file) -> file.endsWith(".class"))
				.map((file) -> file.substring(0, file.length() - ".class".length()))
				.<Class<?>>map((file) -> ClassUtils.resolveClassName(ClassUtils.convertResourcePathToClassName(file),
						MainClassTests.class.getClassLoader()))
				.filter((type) -> Arrays.stream(type.getDeclaredMethods())
					.anyMatch((method) -> method.getName().equals("main")))
				.toList()
				.stream();
		}
	}

}
