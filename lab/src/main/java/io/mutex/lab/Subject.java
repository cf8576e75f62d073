package io.mutex.lab;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * What is put into the field: the program of the workers, and how it differs from the
 * library as it is.
 *
 * @param name what the report calls it
 * @param main the program, which reads and prints what {@link Worker} does
 * @param classes what comes before the class path of the laboratory
 * @param properties system properties of the workers
 */
public record Subject(String name, Class<?> main, List<Path> classes, Map<String, String> properties) {

	/** The library as it is. */
	public static final Subject MUTEX = new Subject("Mutex", Worker.class, List.of(), Map.of());

}
