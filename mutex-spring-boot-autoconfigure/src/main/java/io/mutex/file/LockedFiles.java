package io.mutex.file;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.UnaryOperator;

import io.mutex.Fence;
import io.mutex.Lease;
import io.mutex.MutexException;
import io.mutex.StaleFencingTokenException;
import org.jspecify.annotations.Nullable;

/**
 * What {@link LockedFile} does, with a disk and a patience of its own.
 */
final class LockedFiles {

	private final Durability durability;

	private final Duration wait;

	LockedFiles(Durability durability, Duration wait) {
		this.durability = durability;
		this.wait = wait;
	}

	byte[] read(Path path) {
		return inside(path, true, null, (file, section) -> file.read());
	}

	byte[] read(Path path, Lease lease) {
		return inside(path, false, lease, (file, section) -> {
			register(file, lease);
			return file.read();
		});
	}

	byte[] update(Path path, @Nullable Lease lease, UnaryOperator<byte[]> function) {
		return inside(path, false, lease, (file, section) -> {
			register(file, lease);
			byte[] content = function.apply(file.read());
			if (lease != null) {
				lease.assertValid();
			}
			section.assertIntact();
			file.replace(this.durability, content);
			return content;
		});
	}

	void append(Path path, byte[] content, boolean line) {
		inside(path, false, null, (file, section) -> {
			register(file, null);
			file.append(this.durability, content, line);
			return Boolean.TRUE;
		});
	}

	private <T> T inside(Path path, boolean shared, @Nullable Lease lease, Step<T> step) {
		if (lease != null) {
			lease.assertValid();
		}
		try {
			GuardedFile file = GuardedFile.of(path);
			try (FileSection section = FileSection.enter(file, shared, lease, this.wait)) {
				return step.perform(file, section);
			}
		}
		catch (IOException ex) {
			throw new MutexException((lease != null) ? lease.key() : null,
					"the file " + path + " or what stands beside it cannot be read or written. Check the directory, "
							+ "its permissions, the disk space and the open files: " + ex,
					ex);
		}
	}

	private void register(GuardedFile file, @Nullable Lease lease) throws IOException {
		FileFence accepted = FileFence.read(file.fence());
		if (lease == null) {
			if (accepted != null) {
				throw new MutexException(accepted.key(), "the file " + file.path() + " belongs to the key '"
						+ accepted.key() + "' and accepts no write without a lease of it");
			}
			return;
		}
		Fence fence = Fence.of(lease.key(), lease);
		if (accepted != null) {
			if (!accepted.key().equals(fence.key())) {
				throw new MutexException(fence.key(), "the file " + file.path() + " belongs to the key '"
						+ accepted.key() + "' and accepts no grant of the key '" + fence.key() + "'");
			}
			if (fence.isOf(accepted.token().value(), accepted.nonce())) {
				return;
			}
			if (!fence.follows(accepted.token().value(), accepted.nonce())) {
				StaleFencingTokenException refusal = new StaleFencingTokenException(file.path().toString(),
						fence.token(), accepted.token());
				lease.refused(refusal);
				throw refusal;
			}
		}
		file.writeFence(this.durability, new FileFence(fence.key(), fence.token(), fence.nonce()));
	}

	/**
	 * What is done with a file while it is locked.
	 *
	 * @param <T> the type of the answer
	 */
	@FunctionalInterface
	private interface Step<T> {

		T perform(GuardedFile file, FileSection section) throws IOException;

	}

}
