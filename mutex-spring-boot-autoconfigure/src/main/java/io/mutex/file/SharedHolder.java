package io.mutex.file;

import java.util.Optional;

import io.mutex.HeldLock;
import io.mutex.protocol.LockRow;
import io.mutex.run.Owner;

/**
 * One of several holders of a key, as the state file keeps it. It lives as long as its
 * process has the lock of its byte; what is stored of a dead one is removed with the next
 * grant.
 *
 * @param slot its byte of the lock file
 * @param nonce the nonce of the grant
 * @param token the token of the grant
 * @param name the declared text of the key
 * @param owner who holds it
 * @param acquiredAt when it was granted, in microseconds since 1970
 * @param process the process that has the lock of the byte
 */
record SharedHolder(long slot, String nonce, long token, String name, Owner owner, long acquiredAt,
		ProcessIdentity process) {

	/**
	 * The holder of a grant of this process.
	 * @param slot its byte of the lock file
	 * @param granted the row of the grant
	 * @return the holder
	 */
	static SharedHolder of(long slot, LockRow granted) {
		return new SharedHolder(slot, granted.nonce(), granted.token(), granted.name(), granted.owner(),
				granted.acquiredAt(), ProcessIdentity.CURRENT);
	}

	/**
	 * The row of the holder.
	 * @param lives whether its process has the byte
	 * @return a row that never expires, or has expired
	 */
	LockRow row(boolean lives) {
		return new LockRow(0, this.token, this.nonce, this.name, this.owner, null, 0, this.acquiredAt,
				lives ? LockRow.NEVER : 1, "", 0, 0);
	}

	Optional<HeldLock> toHeldLock(String key, long now) {
		return row(true).toHeldLock(key, now);
	}

}
