package io.mutex.http;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * {@link FencingFilter} and {@link IdempotencyFilter} on Tomcat, in another process.
 */
class FencedServletProcessTests extends FencedServerContract {

	FencedServletProcessTests() {
		super("servlet");
	}

	@Test
	void leaseOfTheSenderIsBoundToTheThread() {
		String resource = unique();
		assertThat(leaseOfTheThread(resource)).contains("resource=" + resource, "key=Fencing-Token", "token=7");
	}

}
