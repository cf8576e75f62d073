package io.mutex.file;

import java.io.FileInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;

/**
 * A process: its number, which another process may get later, and its start, which tells
 * the two apart. For listings; the kernel's lock decides who holds a key.
 *
 * @param pid the process id
 * @param started when it started: on Linux in ticks since a boot that is named, which no
 * step of the clock changes; elsewhere in milliseconds since 1970
 */
record ProcessIdentity(long pid, String started) {

	static final ProcessIdentity CURRENT = new ProcessIdentity(ProcessHandle.current().pid(),
			startOf(ProcessHandle.current().pid()));

	private static final String NOT_RUNNING = "";

	private static final int STATE_FIELD = 0;

	private static final int THREADS_FIELD = 17;

	private static final int START_FIELD = 19;

	boolean isCurrent() {
		return equals(CURRENT);
	}

	boolean isAlive() {
		return !this.started.equals(NOT_RUNNING) && this.started.equals(startOf(this.pid));
	}

	private static String startOf(long pid) {
		Path stat = Path.of("/proc/" + pid + "/stat");
		Path boot = Path.of("/proc/sys/kernel/random/boot_id");
		if (!Files.exists(boot)) {
			return ProcessHandle.of(pid)
				.filter(ProcessHandle::isAlive)
				.flatMap((handle) -> handle.info().startInstant())
				.map(Instant::toEpochMilli)
				.map(String::valueOf)
				.orElse(NOT_RUNNING);
		}
		try {
			String line = read(stat);
			// the name of the program, in parentheses, may hold spaces
			String[] fields = line.substring(line.lastIndexOf(')') + 2).split(" ", -1);
			// the locks of a killed process are freed with the last of its threads
			boolean ended = fields[STATE_FIELD].equals("X")
					|| (fields[STATE_FIELD].equals("Z") && Integer.parseInt(fields[THREADS_FIELD]) <= 1);
			return ended ? NOT_RUNNING : fields[START_FIELD] + "@" + read(boot).strip();
		}
		catch (IOException ex) {
			return NOT_RUNNING;
		}
	}

	private static String read(Path path) throws IOException {
		try (FileInputStream in = new FileInputStream(path.toFile())) {
			return new String(in.readAllBytes(), StandardCharsets.UTF_8);
		}
	}

}
