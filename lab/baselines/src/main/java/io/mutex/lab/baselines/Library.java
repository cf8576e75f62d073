package io.mutex.lab.baselines;

import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import javax.sql.DataSource;

import io.mutex.lab.Provider;
import io.mutex.lab.Subject;

import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * The libraries that are put into the field beside Mutex, with what their documentation
 * promises.
 */
enum Library {

	SHEDLOCK("ShedLock", "shedlock-core", """
			a lock ends by itself after `lockAtMostFor`, which is to be much longer than the work; work that takes
			longer may run beside another's. It names jobs that may safely run again as its purpose, and clocks in
			step as a condition. What keeps locks alive takes a `lockAtMostFor` of 30 s or more, and its author
			advises to use it rarely, so it is left out here: `lockAtMostFor` is 2 s, the work at most a quarter of it.
			With the time of the database and an owner's name for each process, and with `safeUpdate` on Redis.""",
			EnumSet.of(Provider.POSTGRESQL, Provider.REDIS)) {

		@Override
		Locks jdbc(DataSource database) {
			return ShedLocks.jdbc(database);
		}

		@Override
		Locks redis(RedisConnectionFactory connections, int port) {
			return ShedLocks.redis(connections);
		}
	},

	INTEGRATION("Spring Integration", "spring-integration-core", """
			a lock ends after its time to live, and the unlock that comes later throws, because the data may have
			been damaged by then. A scheduler renews those in Redis (here 2 s); those in a database only the thread
			that holds them, so there the work is at most a quarter of the time to live.""",
			EnumSet.of(Provider.POSTGRESQL, Provider.REDIS)) {

		@Override
		Locks jdbc(DataSource database) {
			return IntegrationLocks.jdbc(database);
		}

		@Override
		Locks redis(RedisConnectionFactory connections, int port) {
			return IntegrationLocks.redis(connections);
		}
	},

	RLOCK("Redisson RLock", "redisson", """
			the watchdog prolongs the lock while the client that holds it lives, and it ends `lockWatchdogTimeout`
			(here 2 s) after the last time that it did. A body can ask Redis whether it still holds the lock, which
			none of the examples does.""", EnumSet.of(Provider.REDIS)) {

		@Override
		Locks redis(RedisConnectionFactory connections, int port) {
			return new RedissonLocks(port, false);
		}
	},

	RFENCEDLOCK("Redisson RFencedLock", "redisson", """
			as RLock; each grant has a higher token, and what the lock guards is to refuse a token below the one
			before, which it does here in the statement that writes.""", EnumSet.of(Provider.REDIS)) {

		@Override
		Locks redis(RedisConnectionFactory connections, int port) {
			return new RedissonLocks(port, true);
		}

		@Override
		boolean hasTokens() {
			return true;
		}
	};

	private final String text;

	private final String artifact;

	private final String promise;

	@SuppressWarnings("ImmutableEnumChecker")
	private final Set<Provider> providers;

	Library(String text, String artifact, String promise, Set<Provider> providers) {
		this.text = text;
		this.artifact = artifact;
		this.promise = promise;
		this.providers = providers;
	}

	Locks jdbc(DataSource database) {
		throw new UnsupportedOperationException(this.text + " has no locks in a database");
	}

	abstract Locks redis(RedisConnectionFactory connections, int port);

	boolean hasTokens() {
		return false;
	}

	String text() {
		return this.text;
	}

	String promise() {
		return this.promise;
	}

	boolean isFor(Provider provider) {
		return this.providers.contains(provider);
	}

	Subject subject() {
		return new Subject(this.text, LockWorker.class, List.of(), Map.of("lab.library", name()));
	}

	/**
	 * The version that is on the class path, by the name of its jar.
	 * @return the version
	 */
	String version() {
		return Versions.of(this.artifact);
	}

}
