package io.mutex.lab;

import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * A change to one source or resource of the library. It is made in a copy, which is put
 * before the library on a class path, so that what is shipped has no switch.
 *
 * @param file the file, relative to the base package
 * @param replacements what is replaced in its text
 */
record Mutation(String file, List<Replacement> replacements) {

	private static final Path SOURCES = Path.of("mutex-spring-boot-autoconfigure", "src", "main");

	private static final Path BASE = Path.of("io", "mutex");

	static Mutation in(String file) {
		return new Mutation(file, List.of());
	}

	Mutation replace(String found, String replacement) {
		List<Replacement> all = new ArrayList<>(this.replacements);
		all.add(new Replacement(found, replacement));
		return new Mutation(this.file, List.copyOf(all));
	}

	/**
	 * Changes the text.
	 * @param text the text of the file
	 * @return the changed text
	 * @throws IllegalStateException if a text to replace is not there exactly once
	 */
	String apply(String text) {
		String changed = text;
		for (Replacement replacement : this.replacements) {
			int at = changed.indexOf(replacement.found());
			if (at < 0 || changed.indexOf(replacement.found(), at + 1) >= 0) {
				throw new IllegalStateException(
						this.file + " does not hold exactly once: " + replacement.found().strip());
			}
			changed = changed.substring(0, at) + replacement.replacement()
					+ changed.substring(at + replacement.found().length());
		}
		return changed;
	}

	/**
	 * Makes the change.
	 * @return the directory of the changed classes or resources
	 * @throws IOException if a file cannot be read or written
	 * @throws IllegalStateException if the change does not fit the source
	 */
	Path build() throws IOException {
		Path directory = Files.createTempDirectory("mutex-lab-mutant-");
		Path relative = BASE.resolve(this.file);
		boolean java = this.file.endsWith(".java");
		String text = apply(Files.readString(SOURCES.resolve(java ? "java" : "resources").resolve(relative)));
		Path target = directory.resolve(relative);
		Files.createDirectories(target.getParent());
		Files.writeString(target, text);
		if (java) {
			compile(target, directory);
		}
		return directory;
	}

	private void compile(Path source, Path directory) throws IOException {
		JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
		StringWriter errors = new StringWriter();
		try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
			List<String> options = List.of("--release", "17", "-parameters", "-proc:none", "-nowarn", "-cp",
					System.getProperty("java.class.path"), "-d", directory.toString());
			if (!compiler.getTask(errors, files, null, options, null, files.getJavaFileObjects(source)).call()) {
				throw new IllegalStateException(this.file + " does not compile: " + errors);
			}
		}
	}

	/**
	 * A text and what takes its place.
	 *
	 * @param found the text, which must be there exactly once
	 * @param replacement the other text
	 */
	record Replacement(String found, String replacement) {

	}

}
