package io.mutex.file;

import java.io.IOException;

import io.mutex.LockProvider.Grant;
import io.mutex.LockProvider.Renewal;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notices that a lock of this JVM is gone: the kernel no longer has it, or its file has
 * been replaced. Such a lock is forgotten.
 */
final class HoldWatch {

	private static final Logger logger = LoggerFactory.getLogger(FileLockProvider.class);

	private final Gate gate;

	private final JvmLocks locks;

	HoldWatch(Gate gate, JvmLocks locks) {
		this.gate = gate;
		this.locks = locks;
	}

	Renewal look(Grant grant, KernelLocks.View view) {
		try {
			boolean granted = this.locks.ifHeld(this.gate.files(grant.key()).grantId(grant.nonce()),
					(held) -> held.token() == grant.token());
			return (granted && isIntact(grant.key(), grant.nonce(), view)) ? Renewal.RENEWED : Renewal.LOST;
		}
		catch (IOException ex) {
			logger.debug("cannot look after the lock; key={} provider=file", grant.key(), ex);
			return Renewal.BUSY;
		}
	}

	boolean isIntact(String key, String nonce, KernelLocks.View view) throws IOException {
		KeyFiles files = this.gate.files(key);
		return this.locks.ifHeld(files.grantId(nonce), (held) -> {
			FileIdentity current = FileIdentity.of(files.lock());
			if (current != null && current.text().equals(held.identity()) && held.lock().isValid()
					&& view.shows(current, held.lock().position())) {
				return true;
			}
			this.locks.drop(held);
			logger.warn("the lock file {} was removed, or other code of this process opened and closed it: "
					+ "the lock is lost; key={} token={} provider=file", files.lock(), key, held.token());
			return false;
		});
	}

	void drop(String key, String nonce) {
		this.gate.reading(key, () -> this.locks.ifHeld(this.gate.files(key).grantId(nonce), (held) -> {
			this.locks.drop(held);
			return true;
		}));
	}

}
