package io.mutex.interceptor;

import java.io.IOException;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/**
 * Compiles sources of a test with compiler options of their own.
 */
final class CompiledClasses {

	private CompiledClasses() {
	}

	/**
	 * Compiles classes.
	 * @param directory where to put them
	 * @param options the options of the compiler
	 * @param sources the sources by class name
	 * @return a loader of the classes
	 * @throws IOException if they cannot be written
	 */
	static ClassLoader compile(Path directory, List<String> options, Map<String, String> sources) throws IOException {
		JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
		List<String> arguments = new ArrayList<>(options);
		arguments.addAll(List.of("-proc:none", "-d", Files.createDirectories(directory).toString(), "-classpath",
				System.getProperty("java.class.path")));
		List<Source> units = sources.entrySet()
			.stream()
			.map((entry) -> new Source(entry.getKey(), entry.getValue()))
			.toList();
		if (!compiler.getTask(null, null, null, arguments, null, units).call()) {
			throw new IllegalArgumentException("does not compile: " + sources.keySet());
		}
		return new URLClassLoader(new URL[] { directory.toUri().toURL() }, CompiledClasses.class.getClassLoader());
	}

	private static final class Source extends SimpleJavaFileObject {

		private final String text;

		Source(String name, String text) {
			super(URI.create("string:///" + name.replace('.', '/') + JavaFileObject.Kind.SOURCE.extension),
					JavaFileObject.Kind.SOURCE);
			this.text = text;
		}

		@Override
		public CharSequence getCharContent(boolean ignoreEncodingErrors) {
			return this.text;
		}

	}

}
