package io.mutex;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

import io.mutex.Acquisition.Granted;
import io.mutex.Acquisition.Held;
import io.mutex.run.Owner;
import org.assertj.core.api.Assumptions;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a provider's test class says of its store, and what the contract's tests do with
 * it.
 */
@TestInstance(Lifecycle.PER_CLASS)
abstract class ContractStore {

	static final Duration PATIENCE = Duration.ofSeconds(20);

	/**
	 * Long enough to be granted, short enough to be waited for.
	 */
	static final Duration SHORT = Duration.ofMillis(150);

	final String namespace = "ns-" + UUID.randomUUID();

	private final List<LockProvider> opened = new ArrayList<>();

	private @Nullable LockProvider first;

	private @Nullable LockProvider second;

	/**
	 * Opens a provider on the one store of the test class. The contract closes it.
	 * @param namespace the namespace
	 * @return a new provider, or for a store that lives in one object the one of that
	 * namespace
	 * @throws Exception if it cannot be opened
	 */
	protected abstract LockProvider createProvider(String namespace) throws Exception;

	/**
	 * What a child JVM needs to open a provider on the store of
	 * {@link #createProvider(String)}.
	 * @return the factory and its arguments, or {@code null} if the store lives in one
	 * process
	 * @throws Exception if the store cannot be started
	 */
	protected abstract ProviderFactory.@Nullable Spec otherProcess() throws Exception;

	/**
	 * Starts a store for the tests that restart it.
	 * @return the store, or {@code null} if its data end with it
	 * @throws Exception if it cannot be started
	 */
	protected abstract @Nullable RestartableStore startRestartableStore() throws Exception;

	/**
	 * Whether {@link LockProvider#forceRelease(String)} can free a lock that this process
	 * holds.
	 * @return {@code true} by default
	 */
	protected boolean freesByForce() {
		return true;
	}

	/**
	 * Makes everything that is stored in a namespace older.
	 * @param namespace the namespace
	 * @param time by how much
	 * @return whether this store can be aged
	 * @throws Exception if that fails
	 */
	protected boolean letPass(String namespace, Duration time) throws Exception {
		return false;
	}

	@BeforeEach
	void openProviders() throws Exception {
		if (this.first == null) {
			this.first = open(this.namespace);
			this.second = open(this.namespace);
		}
	}

	@AfterAll
	void closeProviders() {
		this.opened.forEach(LockProvider::close);
	}

	final LockProvider open(String namespace) throws Exception {
		LockProvider provider = createProvider(namespace);
		this.opened.add(provider);
		return provider;
	}

	/**
	 * The provider of this instance.
	 * @return the provider
	 */
	final LockProvider provider() {
		assertThat(this.first).isNotNull();
		return this.first;
	}

	/**
	 * The provider of another instance of the application.
	 * @return another provider on the same store and namespace
	 */
	final LockProvider other() {
		assertThat(this.second).isNotNull();
		return this.second;
	}

	final WorkerProcess startWorker() throws Exception {
		return launchWorker().awaitReady();
	}

	final WorkerProcess launchWorker() throws Exception {
		ProviderFactory.Spec spec = otherProcess();
		Assumptions.assumeThat(spec).as("this store lives in one process").isNotNull();
		assertThat(spec).isNotNull();
		return WorkerProcess.start(spec, this.namespace);
	}

	final void assumeLeasesExpire() {
		Assumptions.assumeThat(provider().expires()).as("leases of this store end by time").isTrue();
	}

	/**
	 * A key that no other test uses.
	 * @return the key
	 */
	static String newKey() {
		return "key-" + UUID.randomUUID();
	}

	static Holding take(LockProvider provider, Ask ask) {
		AcquireRequest request = ask.request();
		Acquisition answer = provider.acquire(request);
		assertThat(answer).isInstanceOf(Granted.class);
		return new Holding(request, (Granted) answer);
	}

	final Holding take(Ask ask) {
		return take(provider(), ask);
	}

	final Acquisition ask(Ask ask) {
		return other().acquire(ask.request());
	}

	/**
	 * Acquires as a process does that dies in its body: the lease has expired on return,
	 * and nothing was released.
	 * @param key the key
	 * @param unit the unit, or {@code null}
	 * @return what the dead process held
	 * @throws Exception if that cannot be done
	 */
	final Holding abandon(String key, @Nullable String unit) throws Exception {
		Ask ask = Ask.of(key).unit(unit).ttl(SHORT);
		Holding abandoned = provider().expires() ? take(ask) : takeAndDie(ask.request());
		awaitFree(key);
		return abandoned;
	}

	private Holding takeAndDie(AcquireRequest request) throws Exception {
		try (WorkerProcess worker = startWorker()) {
			String unit = (request.unit() != null) ? request.unit().id() : "-";
			String[] answer = worker.tell("acquire", request.key(), request.nonce(), "60000", unit).split(" ");
			assertThat(answer).hasSize(4).startsWith("Granted");
			Owner owner = new Owner(request.owner().instance(), request.owner().host(), worker.pid(), "main");
			AcquireRequest asked = new AcquireRequest(request.key(), request.name(), request.nonce(), owner,
					request.ttl(), request.floor(), request.unit(), request.attempt(), request.tokens());
			return new Holding(asked, new Granted(Long.parseLong(answer[1]), Long.parseLong(answer[2]),
					Integer.parseInt(answer[3]), null));
		}
	}

	final void awaitFree(String key) {
		Awaitility.await()
			.atMost(PATIENCE)
			.pollInterval(Duration.ofMillis(20))
			.until(() -> provider().lock(key).isEmpty());
	}

	/**
	 * Asserts that a holding owns its key, by everything that the store can be asked.
	 * @param holding the holding
	 */
	final void assertHeldBy(Holding holding) {
		assertThat(other().lock(holding.key())).hasValueSatisfying((lock) -> {
			assertThat(lock.nonce()).isEqualTo(holding.nonce());
			assertThat(lock.token()).isEqualTo(holding.token());
		});
		assertThat(ask(Ask.of(holding.key()))).isInstanceOf(Held.class);
		assertThat(provider().renew(List.of(holding.grant()))).containsExactly(LockProvider.Renewal.RENEWED);
	}

}
