package io.mutex.redis;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.mutex.testing.TestServer;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.params.ClientKillParams;

/**
 * A second connection to a server, to look at it and to change its settings.
 */
final class Admin implements AutoCloseable {

	private final Jedis jedis;

	Admin(TestServer server) {
		this.jedis = new Jedis(server.host(), server.port());
	}

	Jedis jedis() {
		return this.jedis;
	}

	void resetCounts() {
		this.jedis.sendCommand(Protocol.Command.CONFIG, "RESETSTAT");
	}

	/**
	 * How often a command was called by clients and scripts since the last reset.
	 * @param command the command in lower case
	 * @return the count
	 */
	int count(String command) {
		Matcher matcher = Pattern.compile("cmdstat_" + command + ":calls=(\\d+)")
			.matcher(this.jedis.info("commandstats"));
		return matcher.find() ? Integer.parseInt(matcher.group(1)) : 0;
	}

	void killOthers() {
		this.jedis.clientKill(new ClientKillParams().skipMe(ClientKillParams.SkipMe.YES));
	}

	@Override
	public void close() {
		this.jedis.close();
	}

}
