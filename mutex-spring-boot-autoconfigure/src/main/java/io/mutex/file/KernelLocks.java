package io.mutex.file;

import java.io.FileInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The kernel's own list of file locks, which a Java lock object does not reflect: code
 * that closes another channel on a lock file frees the lock and nobody is told. Linux
 * only; elsewhere nothing is known and every lock counts as held.
 */
final class KernelLocks {

	private static final Logger logger = LoggerFactory.getLogger(KernelLocks.class);

	// a lock that is freed elsewhere while the list is read can hide another one
	private static final int READINGS = 5;

	private final Path list;

	private volatile Sight sight = Sight.UNKNOWN;

	KernelLocks() {
		this(Path.of("/proc/locks"));
	}

	KernelLocks(Path list) {
		this.list = list;
	}

	/**
	 * Learns from a lock that was granted a moment ago in which form the list shows
	 * locks: some file systems have a device number for programs and another for the
	 * kernel.
	 * @param file the locked file
	 * @throws IOException if the list cannot be read
	 */
	void learn(FileIdentity file) throws IOException {
		if (this.sight == Sight.DEVICE_AND_INODE || this.sight == Sight.INODE) {
			return;
		}
		for (int i = 0; i < READINGS; i++) {
			Map<String, List<Range>> locks = read();
			if (locks.containsKey(Sight.DEVICE_AND_INODE.form(file))) {
				this.sight = Sight.DEVICE_AND_INODE;
				return;
			}
			if (locks.containsKey(Sight.INODE.form(file))) {
				this.sight = Sight.INODE;
				return;
			}
		}
		if (this.sight == Sight.UNKNOWN) {
			this.sight = Sight.NONE;
			logger.warn("{} does not show the locks of this process: a lock that other code of this JVM drops, "
					+ "by opening and closing its lock file, is not noticed; provider=file", this.list);
		}
	}

	/**
	 * A view for a few checks in a row, read when it is first needed.
	 * @return the view
	 */
	View view() {
		return new View();
	}

	private Map<String, List<Range>> read() throws IOException {
		Map<String, List<Range>> shown = new HashMap<>();
		if (!Files.exists(this.list)) {
			return shown;
		}
		try (FileInputStream in = new FileInputStream(this.list.toFile())) {
			String pid = Long.toString(ProcessIdentity.CURRENT.pid());
			for (String line : new String(in.readAllBytes(), StandardCharsets.UTF_8).split("\n", -1)) {
				// 1: POSIX ADVISORY WRITE 4711 fe:00:393223 0 EOF
				String[] fields = line.trim().split("\\s+", -1);
				if (fields.length >= 8 && fields[1].equals("POSIX") && fields[3].equals("WRITE")
						&& fields[4].equals(pid)) {
					Range range = Range.of(fields[6], fields[7]);
					shown.computeIfAbsent(fields[5], (absent) -> new ArrayList<>()).add(range);
					shown
						.computeIfAbsent(fields[5].substring(fields[5].lastIndexOf(':')), (absent) -> new ArrayList<>())
						.add(range);
				}
			}
		}
		return shown;
	}

	private enum Sight {

		UNKNOWN, NONE, INODE, DEVICE_AND_INODE;

		String form(FileIdentity file) {
			return ((this == DEVICE_AND_INODE) ? file.deviceText() : "") + ":" + file.inode();
		}

	}

	/**
	 * The locks of this process at one moment.
	 */
	final class View {

		private Map<String, List<Range>> locks = Map.of();

		private View() {
		}

		/**
		 * Whether this process has the lock of a byte.
		 * @param file the file
		 * @param position the byte
		 * @return {@code true} also where the list does not show it
		 * @throws IOException if the list cannot be read
		 */
		boolean shows(FileIdentity file, long position) throws IOException {
			Sight form = KernelLocks.this.sight;
			if (form == Sight.UNKNOWN || form == Sight.NONE) {
				return true;
			}
			String wanted = form.form(file);
			for (int i = 0; i < READINGS && !has(wanted, position); i++) {
				this.locks = read();
			}
			return has(wanted, position);
		}

		private boolean has(String form, long position) {
			return this.locks.getOrDefault(form, List.of()).stream().anyMatch((range) -> range.contains(position));
		}

	}

	/**
	 * Locked bytes. The kernel makes one range of the locks of neighbouring bytes.
	 *
	 * @param first the first byte
	 * @param last the last byte
	 */
	private record Range(long first, long last) {

		static Range of(String first, String last) {
			return new Range(Long.parseLong(first), last.equals("EOF") ? Long.MAX_VALUE : Long.parseLong(last));
		}

		boolean contains(long position) {
			return this.first <= position && position <= this.last;
		}

	}

}
