package io.mutex.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;

import io.mutex.testing.TestServer;
import io.mutex.testing.TestServers;
import org.awaitility.Awaitility;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.args.ClusterResetType;
import redis.clients.jedis.params.MigrateParams;

import org.springframework.data.redis.connection.RedisClusterConfiguration;

/**
 * A cluster of three masters.
 */
final class RedisCluster implements AutoCloseable {

	private static final int SLOTS = 16384;

	private static final int NODES = 3;

	private final List<TestServer> servers = new ArrayList<>();

	private final List<Admin> nodes = new ArrayList<>();

	RedisCluster() {
		for (int i = 0; i < NODES; i++) {
			TestServer server = TestServers.newRedis("--cluster-enabled", "yes", "--appendonly", "no");
			this.servers.add(server);
			this.nodes.add(new Admin(server));
		}
		for (int i = 0; i < NODES; i++) {
			Jedis node = node(i);
			node.clusterReset(ClusterResetType.HARD);
			node.clusterAddSlots(IntStream.range(i * SLOTS / NODES, (i + 1) * SLOTS / NODES).toArray());
			node.clusterSetConfigEpoch(i + 1L);
		}
		for (int i = 1; i < NODES; i++) {
			node(0).clusterMeet(this.servers.get(i).host(), this.servers.get(i).port());
		}
		Awaitility.await().until(this::isReady);
	}

	private boolean isReady() {
		return this.nodes.stream()
			.map((admin) -> admin.jedis().clusterInfo())
			.allMatch((info) -> info.contains("cluster_state:ok") && info.contains("cluster_slots_ok:" + SLOTS)
					&& info.contains("cluster_size:3"));
	}

	RedisClusterConfiguration configuration() {
		RedisClusterConfiguration configuration = new RedisClusterConfiguration();
		this.servers.forEach((server) -> configuration.clusterNode(server.host(), server.port()));
		return configuration;
	}

	Jedis node(int index) {
		return this.nodes.get(index).jedis();
	}

	void forEach(Consumer<Jedis> action) {
		this.nodes.forEach((node) -> action.accept(node.jedis()));
	}

	int ownerOf(int slot) {
		return IntStream.range(0, NODES)
			.filter((i) -> node(i).clusterNodes()
				.lines()
				.filter((line) -> line.contains("myself"))
				.anyMatch((line) -> owns(line, slot)))
			.findFirst()
			.orElseThrow();
	}

	private static boolean owns(String line, int slot) {
		String[] words = line.split(" ");
		return IntStream.range(8, words.length)
			.mapToObj((i) -> words[i].split("-"))
			.anyMatch(
					(range) -> Integer.parseInt(range[0]) <= slot && slot <= Integer.parseInt(range[range.length - 1]));
	}

	/**
	 * Moves a slot with all its keys to the next node.
	 * @param slot the slot
	 */
	void move(int slot) {
		int from = ownerOf(slot);
		int to = (from + 1) % NODES;
		String source = node(from).clusterMyId();
		String target = node(to).clusterMyId();
		node(to).clusterSetSlotImporting(slot, source);
		node(from).clusterSetSlotMigrating(slot, target);
		for (byte[] key : node(from).clusterGetKeysInSlotBinary(slot, 1000)) {
			TestServer server = this.servers.get(to);
			node(from).migrate(server.host(), server.port(), 5000, new MigrateParams(), key);
		}
		node(to).clusterSetSlotNode(slot, target);
		node(from).clusterSetSlotNode(slot, target);
	}

	@Override
	public void close() {
		this.nodes.forEach(Admin::close);
		this.servers.forEach(TestServer::close);
	}

}
