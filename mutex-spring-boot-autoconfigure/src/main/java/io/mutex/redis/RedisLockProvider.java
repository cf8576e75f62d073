package io.mutex.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.mutex.AcquireRequest;
import io.mutex.AcquireRequest.Reservation;
import io.mutex.Acquisition;
import io.mutex.FencingToken;
import io.mutex.HeldLock;
import io.mutex.LockProvider;
import io.mutex.Reopening;
import io.mutex.protocol.Micros;
import io.mutex.redis.RedisScripts.Call;
import io.mutex.redis.Sentinels.Sentinel;
import io.mutex.run.RunRecord;
import io.mutex.run.RunUnit;

import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Keeps locks in Redis 6.2 or later, or Valkey: standalone, behind Sentinel, or in a
 * cluster. Each operation is one script, which decides by the server's clock. Nothing is
 * sent before the first operation.
 */
public final class RedisLockProvider implements LockProvider {

	/**
	 * How many locks one script renews or reads, which bounds how long it keeps the
	 * server from other work.
	 */
	private static final int CHUNK = 100;

	/**
	 * How long what has no end is kept, and the longest lease: a hundred years.
	 */
	private static final Duration FOREVER = Duration.ofDays(36_500);

	private static final int LOCK_ARGUMENTS = 11;

	private static final int UNIT_ARGUMENTS = LOCK_ARGUMENTS + 7;

	private static final String KEPT_FOREVER = Long.toString(FencingToken.LIMIT - 1);

	private final RedisScripts scripts;

	private final RedisKeys keys;

	private final RedisCheck check;

	private final RedisNotifications notifications;

	private final Sentinels sentinels = new Sentinels();

	private volatile List<String> findings = List.of();

	/**
	 * Creates a provider.
	 * @param connectionFactory where the connections come from; it stays the caller's
	 * @param namespace what separates the locks of applications that share a server
	 * @param settings how the data is kept
	 */
	public RedisLockProvider(RedisConnectionFactory connectionFactory, String namespace, RedisSettings settings) {
		if (namespace.isBlank()) {
			throw new IllegalArgumentException(
					"the namespace must not be blank: set mutex.namespace or spring.application.name");
		}
		this.scripts = new RedisScripts(connectionFactory);
		this.keys = new RedisKeys(settings.keyPrefix(), namespace);
		this.check = new RedisCheck(this.scripts, this.keys);
		this.notifications = new RedisNotifications(connectionFactory);
	}

	@Override
	public String name() {
		return "redis";
	}

	@Override
	public Acquisition acquire(AcquireRequest request) {
		int bucket = RedisKeys.bucket(request.key());
		Sentinel sentinel = this.sentinels.seen(bucket);
		List<String> answer = run(request.key(), RedisScript.ACQUIRE, arguments(request, sentinel));
		this.sentinels.learn(bucket, sentinel, answer);
		return RedisAnswers.acquisition(request, answer);
	}

	private String[] arguments(AcquireRequest request, Sentinel sentinel) {
		long ttl = Micros.of(atMostForever(request.ttl()));
		RunUnit unit = request.unit();
		String[] arguments = new String[(unit != null) ? UNIT_ARGUMENTS : LOCK_ARGUMENTS];
		arguments[0] = request.nonce();
		arguments[1] = Long.toString(ttl);
		arguments[2] = Long.toString(request.floor());
		arguments[3] = Integer.toString(request.tokens());
		arguments[4] = request.name();
		arguments[5] = request.owner().toText();
		arguments[6] = request.key();
		arguments[7] = Long.toString(sentinel.born());
		arguments[8] = Long.toString(sentinel.grants());
		arguments[9] = Long.toString(this.sentinels.longestLease(ttl));
		arguments[10] = sharing(request);
		if (unit != null) {
			arguments[11] = unit.id();
			arguments[12] = (unit.begins() != null) ? Long.toString(Micros.of(unit.begins())) : "";
			arguments[13] = micros(unit.tolerance());
			arguments[14] = (unit.within() != null) ? micros(unit.within()) : "";
			arguments[15] = Integer.toString(request.attempt());
			arguments[16] = (unit.keptFor() == null) ? KEPT_FOREVER
					: Long.toString((unit.keptUntil() != null) ? Micros.of(unit.keptUntil()) : 0);
			arguments[17] = (unit.keptFor() != null) ? micros(unit.keptFor()) : "0";
		}
		return arguments;
	}

	private String sharing(AcquireRequest request) {
		Reservation reservation = request.reservation();
		if (reservation != null) {
			return request.permits() + " " + micros(reservation.lasting()) + " "
					+ this.keys.channel(reservation.waiter());
		}
		return request.isShared() ? request.permits() + " 0 " : "";
	}

	@Override
	public List<Renewal> renew(List<Grant> grants) {
		Map<Integer, List<Integer>> buckets = new TreeMap<>();
		for (int i = 0; i < grants.size(); i++) {
			buckets.computeIfAbsent(RedisKeys.bucket(grants.get(i).key()), (absent) -> new ArrayList<>()).add(i);
		}
		List<List<Integer>> chunks = new ArrayList<>();
		buckets.values().forEach((places) -> chunks.addAll(chunks(places)));
		List<List<String>> answers = this.scripts
			.runApart(chunks.stream().map((chunk) -> renewal(chunk.stream().map(grants::get).toList())).toList());
		List<Renewal> renewals = new ArrayList<>(Collections.nCopies(grants.size(), Renewal.LOST));
		for (int i = 0; i < chunks.size(); i++) {
			for (int j = 0; j < chunks.get(i).size(); j++) {
				renewals.set(chunks.get(i).get(j), Renewal.valueOf(answers.get(i).get(j)));
			}
		}
		return renewals;
	}

	private Call renewal(List<Grant> grants) {
		List<byte[]> names = new ArrayList<>(List.of(this.keys.held(RedisKeys.bucket(grants.get(0).key()))));
		List<String> arguments = new ArrayList<>();
		for (Grant grant : grants) {
			names.add(this.keys.lock(grant.key()));
			if (grant.shared()) {
				names.add(this.keys.shared(grant.key()));
			}
			arguments.addAll(List.of(grant.nonce(), Long.toString(grant.token()), micros(grant.ttl()), grant.key(),
					grant.shared() ? "1" : "0"));
		}
		return new Call(RedisScript.RENEW, names, arguments);
	}

	@Override
	public Settlement release(String key, String nonce, boolean began) {
		return settlement(run(key, RedisScript.RELEASE, nonce, began ? "1" : "0", key));
	}

	@Override
	public Settlement complete(Grant grant, String unit) {
		return settle(grant, unit, "D", Duration.ZERO, "");
	}

	@Override
	public Settlement fail(Grant grant, String unit, String error, Duration delay) {
		return settle(grant, unit, "F", delay, error);
	}

	private Settlement settle(Grant grant, String unit, String status, Duration delay, String error) {
		return settlement(run(grant.key(), RedisScript.SETTLE, grant.nonce(), Long.toString(grant.token()), unit,
				status, micros(delay), error, grant.key()));
	}

	private static Settlement settlement(List<String> answer) {
		return Settlement.valueOf(answer.get(0));
	}

	@Override
	public ForcedRelease forceRelease(String key) {
		String nonce = UUID.randomUUID().toString().replace("-", "");
		List<String> answer = run(key, RedisScript.FORCE_RELEASE, nonce, key);
		ForcedRelease.Result result = ForcedRelease.Result.valueOf(answer.get(0));
		if (result != ForcedRelease.Result.RELEASED) {
			return new ForcedRelease(result, null, null);
		}
		return new ForcedRelease(result,
				RedisAnswers.lock(key, answer.get(2), answer.subList(3, answer.size())).orElse(null),
				new FencingToken(Long.parseLong(answer.get(1))));
	}

	@Override
	public Reopening reopen(String key, String unit) {
		return RedisAnswers.reopening(key, unit, run(key, RedisScript.REOPEN, unit, key));
	}

	@Override
	public List<HeldLock> locks(int limit) {
		List<Call> listings = IntStream.range(0, RedisKeys.BUCKETS)
			.mapToObj((bucket) -> new Call(RedisScript.HELD, List.of(this.keys.held(bucket)),
					List.of(Integer.toString(limit))))
			.toList();
		Map<Integer, List<String>> buckets = new TreeMap<>();
		this.scripts.run(null, listings)
			.stream()
			.flatMap(List::stream)
			.sorted()
			.limit(limit)
			.forEach((key) -> buckets.computeIfAbsent(RedisKeys.bucket(key), (absent) -> new ArrayList<>()).add(key));
		List<List<String>> chunks = new ArrayList<>();
		buckets.values().forEach((keys) -> chunks.addAll(chunks(keys)));
		return read(chunks, limit).stream()
			.sorted(Comparator.comparing(HeldLock::key).thenComparing(HeldLock::token))
			.limit(limit)
			.toList();
	}

	@Override
	public Optional<HeldLock> lock(String key) {
		return read(List.of(List.of(key)), 1).stream().findFirst();
	}

	private List<HeldLock> read(List<List<String>> chunks, int limit) {
		List<List<String>> answers = this.scripts.run(null, chunks.stream()
			.map((chunk) -> new Call(RedisScript.READ,
					chunk.stream().flatMap((key) -> Stream.of(this.keys.lock(key), this.keys.shared(key))).toList(),
					List.of(Integer.toString(limit))))
			.toList());
		List<HeldLock> locks = new ArrayList<>();
		for (int i = 0; i < chunks.size(); i++) {
			locks.addAll(RedisAnswers.locks(chunks.get(i), answers.get(i)));
		}
		return locks;
	}

	@Override
	public List<RunRecord> runs(String key, int limit) {
		return runs(key, RedisScript.RUNS, Integer.toString(limit));
	}

	@Override
	public Optional<RunRecord> lastSuccess(String key) {
		return runs(key, RedisScript.LAST_SUCCESS).stream().findFirst();
	}

	private List<RunRecord> runs(String key, RedisScript script, String... arguments) {
		List<String> answer = this.scripts.run(key, script, List.of(this.keys.runs(key), this.keys.order(key)),
				arguments);
		return IntStream.range(0, answer.size() / 2)
			.mapToObj((i) -> RedisAnswers.run(key, answer.get(2 * i), answer.get(2 * i + 1)))
			.toList();
	}

	@Override
	public void check() {
		this.findings = this.check.run();
	}

	@Override
	public List<String> findings() {
		String loss = this.sentinels.loss();
		return (loss != null) ? Stream.concat(Stream.of(loss), this.findings.stream()).toList() : this.findings;
	}

	@Override
	public boolean listen(String waiter, Consumer<String> released) throws InterruptedException {
		return this.notifications.listen(this.keys.channel(waiter), released);
	}

	@Override
	public void close() {
		this.notifications.close();
		this.scripts.close();
	}

	private List<String> run(String key, RedisScript script, String... arguments) {
		return this.scripts.run(key, script, this.keys.all(key), arguments);
	}

	private static String micros(Duration duration) {
		return Long.toString(Micros.of(atMostForever(duration)));
	}

	private static Duration atMostForever(Duration duration) {
		return (duration.compareTo(FOREVER) < 0) ? duration : FOREVER;
	}

	private static <T> List<List<T>> chunks(List<T> all) {
		return IntStream.range(0, (all.size() + CHUNK - 1) / CHUNK)
			.mapToObj((i) -> all.subList(i * CHUNK, Math.min(all.size(), (i + 1) * CHUNK)))
			.toList();
	}

}
