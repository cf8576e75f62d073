package io.mutex.lab.baselines;

import java.io.File;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The versions on the class path, by the names of its jars.
 */
final class Versions {

	private Versions() {
	}

	static String of(String artifact) {
		Pattern jar = Pattern.compile(Pattern.quote(artifact) + "-(\\d.*)\\.jar");
		return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
			.map((entry) -> jar.matcher(String.valueOf(Path.of(entry).getFileName())))
			.filter(Matcher::matches)
			.map((matcher) -> matcher.group(1))
			.findFirst()
			.orElse("");
	}

}
