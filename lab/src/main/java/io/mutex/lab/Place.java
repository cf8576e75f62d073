package io.mutex.lab;

/**
 * Where a fault strikes. Two faults in different places can overlap; in the same place
 * one would undo the other.
 */
enum Place {

	/** One of the workers. */
	WORKER,
	/** The clock of a worker. */
	CLOCK,
	/** The way between the workers and the server. */
	NETWORK,
	/** The server. */
	SERVER,
	/** Everywhere. */
	ALL

}
