package io.mutex.lab;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.function.LongConsumer;

import io.mutex.Lease;
import io.mutex.file.LockedFile;

/**
 * A ledger in one file for each key, replaced by a checked write.
 */
final class FileLedger implements Ledger {

	private final Path directory;

	FileLedger(Path directory) {
		this.directory = directory;
	}

	@Override
	public void add(Lease lease, LongConsumer reading) {
		Path file = this.directory.resolve(lease.key());
		String text = new String(LockedFile.read(file, lease), StandardCharsets.UTF_8);
		long next = text.lines().count() + 1;
		reading.accept(next);
		Entry entry = new Entry(lease.key(), next, lease.token().value(), lease.nonce());
		LockedFile.replace(file, (text + entry.format()).getBytes(StandardCharsets.UTF_8), lease);
	}

	@Override
	public void force(Lease lease, long number) {
		Path file = this.directory.resolve(lease.key());
		String text = new String(LockedFile.read(file), StandardCharsets.UTF_8);
		Entry entry = new Entry(lease.key(), number, lease.token().value(), lease.nonce());
		LockedFile.replace(file, (Entry.before(number, text) + entry.format()).getBytes(StandardCharsets.UTF_8),
				new Unsuspecting(lease));
	}

	@Override
	public List<Entry> entries(String key) {
		return Entry.parse(key, new String(LockedFile.read(this.directory.resolve(key)), StandardCharsets.UTF_8));
	}

}
