package io.mutex.proof;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import io.mutex.Lease;
import io.mutex.file.LockedFile;

/**
 * A ledger with a file for each key.
 */
final class FileLedger implements Ledger {

	private final Path directory;

	FileLedger(Path directory) {
		this.directory = directory;
	}

	@Override
	public void add(Lease lease, Consumer<Place> passing) {
		Path file = this.directory.resolve(lease.key());
		Lease registering = new WatchedLease(lease, () -> passing.accept(Place.BEFORE_REGISTRATION));
		List<Line> lines = parse(LockedFile.read(file, registering));
		byte[] content = Line.format(lines, Line.next(lines, lease)).getBytes(StandardCharsets.UTF_8);
		AtomicBoolean checked = new AtomicBoolean();
		Lease writing = new WatchedLease(lease,
				() -> passing.accept(checked.get() ? Place.BEFORE_COMMIT : Place.AFTER_READ));
		LockedFile.update(file, writing, (old) -> {
			checked.set(true);
			return content;
		});
	}

	@Override
	public List<Line> lines(String key) {
		return parse(LockedFile.read(this.directory.resolve(key)));
	}

	private static List<Line> parse(byte[] content) {
		return Line.parse(new String(content, StandardCharsets.UTF_8));
	}

	@Override
	public void close() {
	}

}
