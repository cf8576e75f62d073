package io.mutex.benchmarks;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import io.mutex.file.FileLockProvider;

/**
 * Locks in files beside those of the operating system.
 */
final class FileLocks {

	private static final String CHANNEL = "FileChannel.lock, open file";

	private FileLocks() {
	}

	static void measure(Scale scale, Servers servers, Results results) throws Exception {
		Path directory = Files.createTempDirectory("bench-locks-");
		try (MutexCalls mutex = new MutexCalls(new FileLockProvider(directory.resolve("mutex"), "bench", false));
				FileChannel channel = open(directory)) {
			Map<String, Work> candidates = new LinkedHashMap<>();
			candidates.put(CHANNEL, (body) -> {
				try (FileLock lock = channel.lock()) {
					body.run();
				}
			});
			candidates.put("FileChannel.lock, opened and closed", (body) -> {
				try (FileChannel opened = open(directory.resolve("opened")); FileLock lock = opened.lock()) {
					body.run();
				}
			});
			candidates.put("Mutex provider, no unit", mutex.lock("lock"));
			candidates.put("Mutex provider, record checked", mutex.lockWithRecordCheck("check"));
			candidates.put("Mutex provider, record written", mutex.run("run"));
			candidates.put("MutexTemplate.execute, no unit", mutex.execute("execute"));
			candidates.put("the program flock", (body) -> flock(directory, body));
			Scale fewer = new Scale(scale.name(), Math.min(3, scale.repetitions()), scale.rounds(), 5, 0, 0, 0, 0);
			Timings timings = Timings.play(fewer, candidates);
			List<List<String>> rows = new ArrayList<>();
			for (String name : timings.names()) {
				Spread micros = timings.micros(name);
				rows.add(List.of(name, micros.middle(), micros.range(), timings.ratio(name, CHANNEL).middle()));
			}
			results.add(new Results.Table("Files, one thread, one key",
					"A kernel lock is forgotten with its process and leaves no token; what Mutex adds is the file with "
							+ "token, holder and record, flushed to the disk. The program flock is started for each "
							+ "call.",
					List.of("", "µs", "spread", "ratio"), rows));
		}
		finally {
			delete(directory);
		}
	}

	private static void flock(Path directory, Runnable body) throws IOException, InterruptedException {
		int status = new ProcessBuilder("flock", directory.resolve("flock").toString(), "true").start().waitFor();
		if (status != 0) {
			throw new IOException("flock ended with " + status);
		}
		body.run();
	}

	private static FileChannel open(Path directory) throws IOException {
		Path file = Files.isDirectory(directory) ? directory.resolve("channel") : directory;
		return FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
	}

	private static void delete(Path directory) throws IOException {
		try (Stream<Path> files = Files.walk(directory)) {
			for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
				Files.delete(file);
			}
		}
	}

}
