package io.mutex.http;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * {@link FencingWebFilter} and {@link IdempotencyWebFilter} on Netty, in another process.
 */
class FencedWebFluxProcessTests extends FencedServerContract {

	FencedWebFluxProcessTests() {
		super("reactive");
	}

	@Test
	void noLeaseIsBoundToAThread() {
		assertThat(leaseOfTheThread(unique())).isEqualTo("none");
	}

}
