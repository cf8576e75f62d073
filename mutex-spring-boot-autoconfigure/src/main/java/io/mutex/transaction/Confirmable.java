package io.mutex.transaction;

import java.sql.Connection;

/**
 * A connection that is confirmed before each commit, unless it is told that it was.
 */
interface Confirmable extends Connection {

	/**
	 * Says that everything was confirmed that the next commit needs.
	 */
	void confirmed();

}
