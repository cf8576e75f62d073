package io.mutex.autoconfigure;

import java.nio.file.Path;
import java.time.Duration;
import java.time.ZoneId;
import java.util.List;

import io.mutex.StoreSetupException;
import io.mutex.annotation.CatchUp;
import io.mutex.engine.EngineSettings;
import io.mutex.engine.MonitorSettings;
import io.mutex.http.IdempotencyStore;
import io.mutex.http.IdempotentRequests;
import io.mutex.jdbc.JdbcPlatform;
import io.mutex.jdbc.JdbcSettings;
import io.mutex.redis.RedisSettings;
import io.mutex.run.RunUnit;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.context.properties.bind.Name;
import org.springframework.util.unit.DataSize;

/**
 * Configuration of Mutex.
 *
 * @param enabled Whether annotated methods are locked. If not, they run as if they were
 * not annotated.
 * @param provider Where locks live. By default, the one store that the application has,
 * else files of this host.
 * @param namespace Separates applications that share a store, 1 to 100 characters. By
 * default, the application's name. Changing it forgets every record.
 * @param instanceId Name of this application instance in listings. By default, the host
 * name and the process id.
 * @param zone Time zone of calendar periods whose method names none. By default, the zone
 * of the system.
 * @param interruptOnLoss Whether the thread that runs a method is interrupted when its
 * lease is lost. The end of the drain time interrupts it in any case.
 * @param shutdown Shutdown.
 * @param waiting Waiting for a key.
 * @param monitor What is warned of because it holds work up, or may do so.
 * @param singleRun Methods annotated with @SingleRun.
 * @param fenced Methods annotated with @Fenced.
 * @param file Locks in files.
 * @param jdbc Locks in a database.
 * @param redis Locks in Redis.
 */
@ConfigurationProperties("mutex")
public record MutexProperties(@DefaultValue("true") boolean enabled, @Nullable MutexProviderType provider,
		@Nullable String namespace, @Nullable String instanceId, @Nullable ZoneId zone,
		@DefaultValue("true") boolean interruptOnLoss, @DefaultValue Shutdown shutdown,
		@Name("wait") @DefaultValue Wait waiting, @DefaultValue Monitor monitor, @DefaultValue SingleRun singleRun,
		@DefaultValue Fenced fenced, @DefaultValue File file, @DefaultValue Jdbc jdbc, @DefaultValue Redis redis) {

	Duration shortestLease() {
		Duration run = this.singleRun.lease();
		return (run.compareTo(this.fenced.lease()) < 0) ? run : this.fenced.lease();
	}

	String instance() {
		return (this.instanceId != null) ? this.instanceId : EngineSettings.defaultInstance();
	}

	private static void requireLease(String property, Duration lease) {
		if (lease.compareTo(Duration.ofSeconds(1)) < 0) {
			throw new IllegalArgumentException("'" + property + "' must be at least 1s, but was " + lease);
		}
	}

	private static void requireRetention(String property, @Nullable Duration retention) {
		if (retention != null && retention.compareTo(RunUnit.MIN_KEPT) < 0) {
			throw new IllegalArgumentException("'" + property + "' must be at least " + RunUnit.MIN_KEPT + ", but was "
					+ retention + ": a record that is forgotten lets its run happen again");
		}
	}

	private static void requirePositive(String property, @Nullable Duration duration) {
		if (duration != null && (duration.isNegative() || duration.isZero())) {
			throw new IllegalArgumentException("'" + property + "' must be longer than 0, but was " + duration);
		}
	}

	/**
	 * Shutdown.
	 *
	 * @param drainTimeout How long running methods may go on after shutdown has begun. By
	 * default, spring.lifecycle.timeout-per-shutdown-phase less 2s, which is also the
	 * greatest value.
	 */
	public record Shutdown(@Nullable Duration drainTimeout) {

		private static final Duration MARGIN = Duration.ofSeconds(2);

		Duration drainTimeoutWithin(Duration phase) {
			Duration longest = phase.minus(MARGIN).isNegative() ? Duration.ZERO : phase.minus(MARGIN);
			if (this.drainTimeout == null) {
				return longest;
			}
			if (this.drainTimeout.isNegative() || this.drainTimeout.compareTo(longest) > 0) {
				throw new StoreSetupException(
						"mutex.shutdown.drain-timeout is " + this.drainTimeout
								+ ", but shutdown leaves running methods no more than " + longest + ".",
						"Set it to at most " + longest + ", or raise spring.lifecycle.timeout-per-shutdown-phase from "
								+ phase + ".",
						null);
			}
			return this.drainTimeout;
		}

	}

	/**
	 * Waiting for a key.
	 *
	 * @param minPoll Shortest time between two questions of one waiter to the store.
	 * @param maxPoll Longest time between two questions of one waiter to the store.
	 */
	public record Wait(@DefaultValue("50ms") Duration minPoll, @DefaultValue("1s") Duration maxPoll) {

		public Wait {
			requirePositive("mutex.wait.min-poll", minPoll);
			if (maxPoll.compareTo(minPoll) < 0) {
				throw new IllegalArgumentException("'mutex.wait.max-poll' must not be shorter than "
						+ "'mutex.wait.min-poll', but was " + maxPoll + " against " + minPoll);
			}
		}

	}

	/**
	 * What is warned of because it holds work up, or may do so: a WARN, an event and the
	 * counter mutex.hazards.
	 *
	 * @param enabled Whether it is looked for.
	 * @param waitingLimit How long a thread may wait for a key.
	 * @param holdLimit How long a key may be held, unless it is for a unit of a single
	 * run: such a hold is measured by its schedule.
	 * @param nestingLimit How many keys one call may hold at once.
	 */
	public record Monitor(@DefaultValue("true") boolean enabled, @DefaultValue("30s") Duration waitingLimit,
			@DefaultValue("10m") Duration holdLimit, @DefaultValue("5") int nestingLimit) {

		public Monitor {
			requirePositive("mutex.monitor.waiting-limit", waitingLimit);
			requirePositive("mutex.monitor.hold-limit", holdLimit);
			if (nestingLimit < 1) {
				throw new IllegalArgumentException(
						"'mutex.monitor.nesting-limit' must be at least 1, but was " + nestingLimit);
			}
		}

		MonitorSettings settings() {
			return new MonitorSettings(this.enabled, this.waitingLimit, this.holdLimit, this.nestingLimit);
		}

	}

	/**
	 * Methods annotated with @SingleRun.
	 *
	 * @param lease Length of a lease, at least 1s: how long after the death of an
	 * instance another takes over.
	 * @param maxHold Longest hold, after which a lease is lost. By default, there is no
	 * limit.
	 * @param retention How long records of past runs are kept after the end of their
	 * period, at least 1h, and keys after their last use. Those of the current and the
	 * previous period and the newest of a key without expressions stay, and those of per
	 * = "forever".
	 * @param explicitUnitRetention How long records of units that a method names by unit
	 * are kept after their run, at least 1h. By default, for ever.
	 * @param records Whether successful runs are recorded. If not, methods only exclude
	 * each other.
	 * @param catchUp Whether the last run of a job with a cron schedule is made at
	 * start-up if it was missed.
	 */
	public record SingleRun(@DefaultValue("2m") Duration lease, @Nullable Duration maxHold,
			@DefaultValue("90d") Duration retention, @Nullable Duration explicitUnitRetention,
			@DefaultValue("true") boolean records, @DefaultValue("none") CatchUp catchUp) {

		public SingleRun {
			if (catchUp == CatchUp.DEFAULT) {
				throw new IllegalArgumentException("'mutex.single-run.catch-up' must be none or last");
			}
			requireLease("mutex.single-run.lease", lease);
			requirePositive("mutex.single-run.max-hold", maxHold);
			requireRetention("mutex.single-run.retention", retention);
			requireRetention("mutex.single-run.explicit-unit-retention", explicitUnitRetention);
		}

	}

	/**
	 * Methods annotated with @Fenced.
	 *
	 * @param waitFor How long a call waits for a key that is held.
	 * @param lease Length of a lease, at least 1s: how long after the death of an
	 * instance another takes over.
	 * @param maxHold Longest hold, after which a lease is lost. By default, there is no
	 * limit.
	 * @param jdbc Guard of what is written to a database.
	 * @param redis Guard of what is written to Redis.
	 * @param http Fencing tokens of HTTP requests.
	 */
	public record Fenced(@DefaultValue("5s") Duration waitFor, @DefaultValue("30s") Duration lease,
			@Nullable Duration maxHold, @DefaultValue JdbcGuard jdbc, @DefaultValue RedisGuard redis,
			@DefaultValue Http http) {

		public Fenced {
			if (waitFor.isNegative()) {
				throw new IllegalArgumentException("'mutex.fenced.wait-for' must not be negative, but was " + waitFor);
			}
			requireLease("mutex.fenced.lease", lease);
			requirePositive("mutex.fenced.max-hold", maxHold);
		}

	}

	/**
	 * Fencing tokens of HTTP requests.
	 *
	 * @param hosts Hosts that requests are sent to with the token of their lease and an
	 * idempotency key: a host, a host with a port, or all hosts below a domain, such as
	 * *.internal.
	 * @param server Requests that are received.
	 */
	public record Http(@DefaultValue List<String> hosts, @DefaultValue HttpServer server) {

	}

	/**
	 * Fencing tokens of HTTP requests that are received.
	 *
	 * @param enabled Whether requests with a stale token are refused.
	 * @param required Whether requests without a token are refused, unless their method
	 * is GET, HEAD, OPTIONS or TRACE.
	 * @param paths Paths of the requests that are looked at, as patterns.
	 * @param idempotency Requests with an idempotency key.
	 */
	public record HttpServer(@DefaultValue("false") boolean enabled, @DefaultValue("false") boolean required,
			@DefaultValue("/**") List<String> paths, @DefaultValue Idempotency idempotency) {

	}

	/**
	 * Requests with an idempotency key.
	 *
	 * @param enabled Whether a repeated request is answered as before, from the memory of
	 * the instance unless there is a store. By default, only if there is a store.
	 * @param ttl How long an answer is kept.
	 * @param maxSize Largest body of a request with a key, and of an answer that is kept.
	 * @param maxMemory Memory that the answers may take where there is no store.
	 */
	public record Idempotency(@Nullable Boolean enabled, @DefaultValue("24h") Duration ttl,
			@DefaultValue("256KB") DataSize maxSize, @DefaultValue("32MB") DataSize maxMemory) {

		public Idempotency {
			requirePositive("mutex.fenced.http.server.idempotency.ttl", ttl);
			if (maxSize.toBytes() <= 0 || maxSize.toGigabytes() > 0) {
				throw new IllegalArgumentException("'mutex.fenced.http.server.idempotency.max-size' must be more than "
						+ "0 and less than 1GB, but was " + maxSize);
			}
		}

		IdempotentRequests requests(IdempotencyStore store) {
			return new IdempotentRequests(store, this.ttl, (int) this.maxSize.toBytes());
		}

	}

	/**
	 * Guard of what is written to a database.
	 *
	 * @param enabled Whether leases that live elsewhere are registered in the database,
	 * and checked before each commit of a protected method. With provider jdbc they are
	 * in any case.
	 */
	public record JdbcGuard(@DefaultValue("false") boolean enabled) {

	}

	/**
	 * Guard of what is written to Redis.
	 *
	 * @param enabled Whether leases are registered in Redis, and FencedRedisOperations
	 * refuses the writes of a holder that was overtaken. With any provider.
	 */
	public record RedisGuard(@DefaultValue("false") boolean enabled) {

	}

	/**
	 * Locks in files.
	 *
	 * @param directory Directory of the lock files, shared by the processes that exclude
	 * each other. By default, .mutex/locks in the home directory of the user.
	 * @param allowNetwork Whether a directory on a network file system is accepted, on
	 * which locks may not exclude.
	 */
	public record File(@Nullable Path directory, @DefaultValue("false") boolean allowNetwork) {

	}

	/**
	 * Locks in a database.
	 *
	 * @param initializeSchema When the tables are created at start-up.
	 * @param tablePrefix Prefix of the names of the tables.
	 * @param schema Database schema of the tables. By default, that of the connection.
	 * @param platform SQL dialect. By default, it is asked of the database.
	 * @param poolSize At most so many connections are opened for the locks alone, one for
	 * each call that runs at the same time, and one more to renew leases. 0 takes those
	 * of the application, which may then block its own locks.
	 * @param lockTimeout How long a statement waits for a locked row, at most half the
	 * shortest of the two configured leases.
	 * @param queryTimeout How long an answer of the database is waited for, at most half
	 * the shortest of the two configured leases.
	 */
	public record Jdbc(@DefaultValue("embedded") SchemaInitialization initializeSchema,
			@DefaultValue("mutex_") String tablePrefix, @Nullable String schema, @Nullable JdbcPlatform platform,
			@DefaultValue("" + JdbcSettings.DEFAULT_POOL_SIZE) int poolSize, @DefaultValue("2s") Duration lockTimeout,
			@DefaultValue("5s") Duration queryTimeout) {

		public Jdbc {
			if (poolSize < 0 || poolSize > 100) {
				throw new IllegalArgumentException(
						"'mutex.jdbc.pool-size' must lie between 0 and 100, but was " + poolSize);
			}
			requirePositive("mutex.jdbc.lock-timeout", lockTimeout);
			requirePositive("mutex.jdbc.query-timeout", queryTimeout);
			new JdbcSettings(tablePrefix, schema, platform, poolSize, lockTimeout, queryTimeout);
		}

	}

	/**
	 * Locks in Redis.
	 *
	 * @param keyPrefix Prefix of all keys, for an access rule of the server.
	 */
	public record Redis(@DefaultValue("mutex") String keyPrefix) {

		public Redis {
			new RedisSettings(keyPrefix);
		}

	}

}
