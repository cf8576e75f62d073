package io.mutex.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.mutex.StoreSetupException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What {@code INFO} of a server says of its fitness. Each finding is logged once.
 */
final class RedisFindings {

	private static final Logger logger = LoggerFactory.getLogger(RedisFindings.class);

	private static final Pattern VERSION = Pattern.compile("redis_version:((\\d+)\\.(\\d+)\\S*)");

	private static final int MAJOR = 6;

	private static final int MINOR = 2;

	private final Set<String> told = ConcurrentHashMap.newKeySet();

	/**
	 * Judges a server. A section that may not be read is empty.
	 * @param server its section of that name
	 * @param memory likewise
	 * @param persistence likewise
	 * @param replication likewise
	 * @return what is not as safe as it could be
	 * @throws StoreSetupException if the server is too old
	 */
	List<String> of(String server, String memory, String persistence, String replication) {
		requireVersion(server);
		List<String> findings = new ArrayList<>();
		String policy = value(memory, "maxmemory_policy");
		if (policy != null && !policy.equals("noeviction")) {
			String finding = "Redis may evict locks and run records when its memory is full, since its"
					+ " maxmemory-policy is " + policy
					+ ": set it to noeviction, or keep locks on a server of their own";
			findings.add(finding);
			if (this.told.add(finding)) {
				logger.warn("{}. provider=redis", finding);
			}
		}
		if ("0".equals(value(persistence, "aof_enabled"))) {
			inform(findings,
					"Redis does not log its writes (appendonly no): a restart forgets the locks and run records"
							+ " since its last snapshot, or all of them, so that grants are held back and units may run again");
		}
		String replicas = value(replication, "connected_slaves");
		if (replicas != null && !replicas.equals("0") && value(replication, "min_slaves_good_slaves") == null) {
			inform(findings,
					"Redis has replicas and min-replicas-to-write is 0: a master that was replaced while it was"
							+ " cut off goes on granting to those who still reach it");
		}
		return findings;
	}

	private void inform(List<String> findings, String finding) {
		findings.add(finding);
		if (this.told.add(finding)) {
			logger.info("{}. provider=redis", finding);
		}
	}

	private static void requireVersion(String server) {
		Matcher version = VERSION.matcher(server);
		if (!version.find()) {
			logger.debug("The version of redis cannot be read: INFO is not allowed in scripts");
			return;
		}
		int major = Integer.parseInt(version.group(2));
		if (major < MAJOR || (major == MAJOR && Integer.parseInt(version.group(3)) < MINOR)) {
			throw new StoreSetupException("Redis " + version.group(1) + " is too old to keep locks.",
					"Use version " + MAJOR + "." + MINOR + " or later, or Valkey.", null);
		}
	}

	private static @Nullable String value(String section, String name) {
		Matcher matcher = Pattern.compile("(?m)^" + name + ":(\\S+)").matcher(section);
		return matcher.find() ? matcher.group(1) : null;
	}

}
