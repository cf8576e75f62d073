package io.mutex.transaction;

import java.util.UUID;

import io.mutex.testing.TestServers;

/**
 * A database of its own on each server that a test asks for.
 */
enum Stores {

	POSTGRESQL, MARIADB, H2;

	String newUrl() {
		return switch (this) {
			case POSTGRESQL -> TestServers.postgres().newDatabase();
			case MARIADB -> TestServers.mariadb().newDatabase();
			case H2 -> "jdbc:h2:mem:tx-" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1;USER=sa";
		};
	}

}
