package io.mutex.lab;

import java.time.Duration;

import io.mutex.testing.CuttingProxy;

/**
 * What can happen between the workers and the server.
 */
final class NetworkFaults {

	private static final long LEASE = Provider.LEASE.toMillis();

	private NetworkFaults() {
	}

	static void lateAnswers(Field field) {
		int index = field.holder();
		CuttingProxy proxy = field.proxies.get(index);
		field.fault("P3", field.name(index), proxy::holdAnswers, LEASE + 500, proxy::pass);
	}

	static void refuse(Field field) {
		field.fault("N1", () -> field.proxies.forEach(CuttingProxy::cut), 1500,
				() -> field.proxies.forEach(CuttingProxy::pass));
	}

	static void loseAnswer(Field field) {
		int index = field.holder();
		CuttingProxy proxy = field.proxies.get(index);
		field.fault("N2", field.name(index), proxy::loseOneAnswer, 200, proxy::pass);
	}

	// shorter than the time-out of the clients, which send again what was not answered
	static void reset(Field field) {
		int index = field.holder();
		CuttingProxy proxy = field.proxies.get(index);
		field.fault("N3", field.name(index), proxy::holdAnswers, 300, () -> {
			proxy.cut();
			proxy.pass();
		});
	}

	static void cutOff(Field field) {
		int index = field.holder();
		CuttingProxy proxy = field.proxies.get(index);
		field.fault("N4", field.name(index), proxy::hold, 2 * LEASE, proxy::pass);
	}

	static void swallow(Field field) {
		field.fault("N5", () -> field.proxies.forEach(CuttingProxy::hold), LEASE + 1000,
				() -> field.proxies.forEach(CuttingProxy::pass));
	}

	static void oneWay(Field field) {
		int index = field.holder();
		CuttingProxy proxy = field.proxies.get(index);
		field.fault("N6", field.name(index), proxy::holdAnswers, LEASE + 500, () -> {
			proxy.cut();
			proxy.pass();
		});
	}

	static void lateRequests(Field field) {
		int index = field.holder();
		CuttingProxy proxy = field.proxies.get(index);
		field.fault("N7", field.name(index), () -> proxy.delay(Duration.ofMillis(LEASE + 300)), 2 * LEASE,
				() -> proxy.delay(Duration.ZERO));
	}

	static void slow(Field field) {
		field.fault("N8", () -> field.proxies.forEach((proxy) -> proxy.delay(Duration.ofMillis(LEASE / 2))), 2 * LEASE,
				() -> field.proxies.forEach((proxy) -> proxy.delay(Duration.ZERO)));
	}

}
