package io.mutex.http;

import java.net.URI;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Supplier;

import io.mutex.LeaseLostException;
import io.mutex.Leases;
import io.mutex.testing.FixedLease;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.ResponseEntity;
import org.springframework.http.client.JdkClientHttpRequestFactory;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.RestTemplate;
import org.springframework.web.reactive.function.client.WebClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link FencingClientInterceptor} and {@link FencingExchangeFilter}.
 */
class FencingClientTests {

	private static final String NONCE = "0123456789abcdef0123456789abcdef";

	private static final String OTHER_NONCE = "f123456789abcdef0123456789abcdef";

	private final RecordingServer server = new RecordingServer();

	private final FixedLease lease = new FixedLease("account:42", 17, NONCE);

	@AfterEach
	void close() {
		this.server.close();
	}

	@ParameterizedTest
	@EnumSource
	void tokenAndKeyAreSentUnderALease(Client client) {
		Sender sender = client.sender("localhost");
		under(this.lease, () -> sender.send(HttpMethod.POST, this.server.uri("/a"), "body"));
		assertThat(this.server.received()).singleElement().satisfies((received) -> {
			assertThat(received.tokens()).containsExactly("account:42;17;" + NONCE);
			assertThat(received.key()).matches("[0-9a-f]{32}");
			assertThat(received.body()).isEqualTo("body");
		});
	}

	@ParameterizedTest
	@EnumSource
	void nothingIsSentToOtherHostsNorWithoutALease(Client client) {
		Sender sender = client.sender("localhost");
		sender.send(HttpMethod.POST, this.server.uri("/a"), "body");
		Sender elsewhere = client.sender("127.0.0.1", "*.localhost", "localhost:1");
		under(this.lease, () -> elsewhere.send(HttpMethod.POST, this.server.uri("/a"), "body"));
		under(this.lease.lose(), () -> elsewhere.send(HttpMethod.POST, this.server.uri("/a"), "body"));
		assertThat(this.server.received()).hasSize(3).allSatisfy((received) -> {
			assertThat(received.tokens()).isEmpty();
			assertThat(received.key()).isNull();
		});
	}

	@ParameterizedTest
	@EnumSource
	void readingSendsTheTokenAndNoKey(Client client) {
		Sender sender = client.sender("localhost");
		under(this.lease, () -> sender.send(HttpMethod.GET, this.server.uri("/a"), ""));
		assertThat(this.server.received()).singleElement().satisfies((received) -> {
			assertThat(received.tokens()).hasSize(1);
			assertThat(received.key()).isNull();
		});
	}

	@ParameterizedTest
	@EnumSource
	void requestWithoutABodyHasAKey(Client client) {
		Sender sender = client.sender("localhost");
		under(this.lease, () -> sender.send(HttpMethod.DELETE, this.server.uri("/a"), ""));
		assertThat(this.server.keys()).doesNotContainNull().hasSize(1);
	}

	@ParameterizedTest
	@EnumSource
	void lostLeaseFailsBeforeAnythingIsSent(Client client) {
		Sender sender = client.sender("localhost");
		assertThatExceptionOfType(LeaseLostException.class).isThrownBy(
				() -> under(this.lease.lose(), () -> sender.send(HttpMethod.POST, this.server.uri("/a"), "body")));
		assertThat(this.server.received()).isEmpty();
	}

	@ParameterizedTest
	@EnumSource
	void keyOfTheCallerIsKept(Client client) {
		Sender sender = client.sender("localhost");
		under(this.lease, () -> sender.send(HttpMethod.POST, this.server.uri("/a"), "body", "mine"));
		assertThat(this.server.keys()).containsExactly("mine");
	}

	@ParameterizedTest
	@EnumSource
	void rerunOfAUnitSendsTheSameKeysAndTwoRequestsThatAreMeantDiffer(Client client) {
		Sender sender = client.sender("localhost");
		for (int run = 0; run < 2; run++) {
			FixedLease rerun = new FixedLease("report", 17 + run, (run == 0) ? NONCE : OTHER_NONCE, "2026-11-29");
			under(rerun, () -> {
				sender.send(HttpMethod.POST, this.server.uri("/a"), "body");
				sender.send(HttpMethod.POST, this.server.uri("/a"), "body");
				sender.send(HttpMethod.POST, this.server.uri("/a"), "other body");
				sender.send(HttpMethod.POST, this.server.uri("/b"), "body");
				return sender.send(HttpMethod.PUT, this.server.uri("/a"), "body");
			});
		}
		List<@Nullable String> keys = this.server.keys();
		assertThat(keys).hasSize(10);
		assertThat(keys.subList(0, 5)).doesNotHaveDuplicates().isEqualTo(keys.subList(5, 10));
	}

	@ParameterizedTest
	@EnumSource
	void keyBelongsToTheRequestAndNotToItsPlaceInTheRun(Client client) {
		Sender sender = client.sender("localhost");
		List<Runnable> requests = List.of(() -> sender.send(HttpMethod.POST, this.server.uri("/a"), "body"),
				() -> sender.send(HttpMethod.POST, this.server.uri("/a"), "other body"),
				() -> sender.send(HttpMethod.POST, this.server.uri("/a?b"), "body"),
				() -> sender.send(HttpMethod.PUT, this.server.uri("/a"), "body"));
		for (int run = 0; run < 2; run++) {
			List<Runnable> ordered = new ArrayList<>(requests);
			if (run == 1) {
				Collections.reverse(ordered);
			}
			under(new FixedLease("report", 17 + run, (run == 0) ? NONCE : OTHER_NONCE, "2026-11-29"), () -> {
				ordered.forEach(Runnable::run);
				return null;
			});
		}
		List<@Nullable String> rerun = new ArrayList<>(this.server.keys().subList(4, 8));
		Collections.reverse(rerun);
		assertThat(rerun).doesNotHaveDuplicates().isEqualTo(this.server.keys().subList(0, 4));
	}

	@ParameterizedTest
	@EnumSource
	void leaseWithoutAUnitHasKeysOfItsOwn(Client client) {
		Sender sender = client.sender("localhost");
		under(this.lease, () -> sender.send(HttpMethod.POST, this.server.uri("/a"), "body"));
		under(new FixedLease("account:42", 18, OTHER_NONCE),
				() -> sender.send(HttpMethod.POST, this.server.uri("/a"), "body"));
		under(new FixedLease("account:42", 18, OTHER_NONCE, "unit"),
				() -> sender.send(HttpMethod.POST, this.server.uri("/a"), "body"));
		under(new FixedLease("account:43", 18, OTHER_NONCE, "unit"),
				() -> sender.send(HttpMethod.POST, this.server.uri("/a"), "body"));
		assertThat(this.server.keys()).hasSize(4).doesNotHaveDuplicates();
	}

	@ParameterizedTest
	@EnumSource
	void requestThatFailedIsSentAgainWithItsKey(Client client) {
		Sender sender = client.sender("localhost");
		this.server.answer(503, 429, 500);
		under(this.lease, () -> {
			for (int i = 0; i < 5; i++) {
				sender.send(HttpMethod.POST, this.server.uri("/a"), "body");
			}
			return HttpStatusCode.valueOf(200);
		});
		List<@Nullable String> keys = this.server.keys();
		assertThat(keys.subList(0, 4)).containsOnly(keys.get(0));
		assertThat(keys.get(4)).isNotEqualTo(keys.get(0));
	}

	@ParameterizedTest
	@EnumSource
	void requestThatGotNoAnswerIsSentAgainWithItsKey(Client client) {
		Sender sender = client.sender("localhost");
		// a client may try once more by itself
		this.server.answer(0, 0);
		int failures = 0;
		while (this.server.received().size() < 3) {
			try {
				under(this.lease, () -> sender.send(HttpMethod.POST, this.server.uri("/a"), "body"));
			}
			catch (RuntimeException ex) {
				failures++;
			}
		}
		assertThat(failures).isPositive();
		assertThat(this.server.keys().stream().distinct()).hasSize(1);
	}

	@ParameterizedTest
	@EnumSource
	void resourceThatNeedsItIsEncoded(Client client) {
		Sender sender = client.sender("localhost");
		under(new FixedLease("größe;1", 3, NONCE), () -> sender.send(HttpMethod.POST, this.server.uri("/a"), ""));
		List<String> tokens = this.server.received().get(0).tokens();
		assertThat(FencingHeader.parse(tokens).get(0).resource()).isEqualTo("größe;1");
	}

	@Test
	void innermostLeaseCounts() {
		Sender sender = Client.REST_CLIENT.sender("localhost");
		under(this.lease, () -> under(new FixedLease("inner", 3, OTHER_NONCE),
				() -> sender.send(HttpMethod.POST, this.server.uri("/a"), "")));
		assertThat(this.server.received().get(0).tokens()).containsExactly("inner;3;" + OTHER_NONCE);
	}

	@Test
	void webClientTakesTheLeaseOfTheThreadThatDescribesTheRequest() {
		WebClient client = Client.webClient("localhost");
		Mono<?> request;
		try (Leases.Scope scope = Leases.bind(this.lease)) {
			request = client.post().uri(this.server.uri("/a")).bodyValue("body").retrieve().toBodilessEntity();
		}
		request.subscribeOn(Schedulers.boundedElastic()).block();
		assertThat(this.server.received().get(0).tokens()).containsExactly("account:42;17;" + NONCE);
	}

	@Test
	void webClientThatTriesAgainOnAnotherThreadKeepsTokenAndKey() {
		this.server.answer(503, 503);
		WebClient client = Client.webClient("localhost");
		under(this.lease,
				() -> client.post()
					.uri(this.server.uri("/a"))
					.bodyValue("body")
					.retrieve()
					.toBodilessEntity()
					.publishOn(Schedulers.parallel())
					.retry(2)
					.map(ResponseEntity::getStatusCode)
					.block());
		assertThat(this.server.received()).hasSize(3).containsOnly(this.server.received().get(0));
	}

	private static @Nullable HttpStatusCode under(FixedLease lease, Supplier<@Nullable HttpStatusCode> work) {
		try (Leases.Scope scope = Leases.bind(lease)) {
			return work.get();
		}
	}

	/**
	 * Sends a request.
	 */
	interface Sender {

		HttpStatusCode send(HttpMethod method, String uri, String body, String... key);

	}

	/**
	 * The clients of Spring.
	 */
	enum Client {

		REST_CLIENT {

			@Override
			Sender sender(String... hosts) {
				return sender(RestClient.builder()
					.requestFactory(new JdkClientHttpRequestFactory())
					.requestInterceptor(new FencingClientInterceptor(new FencedHosts(List.of(hosts))))
					.build());
			}

		},

		REST_TEMPLATE {

			@Override
			Sender sender(String... hosts) {
				RestTemplate template = new RestTemplate(new JdkClientHttpRequestFactory());
				template.getInterceptors().add(new FencingClientInterceptor(new FencedHosts(List.of(hosts))));
				return sender(RestClient.create(template));
			}

		},

		WEB_CLIENT {

			@Override
			Sender sender(String... hosts) {
				WebClient client = webClient(hosts);
				return (method, uri, body, key) -> {
					WebClient.RequestBodySpec request = client.method(method).uri(URI.create(uri));
					if (key.length > 0) {
						request.header("Idempotency-Key", key[0]);
					}
					if (!body.isEmpty()) {
						request.bodyValue(body);
					}
					HttpStatusCode status = request.exchangeToMono((response) -> Mono.just(response.statusCode()))
						.block();
					assertThat(status).isNotNull();
					return status;
				};
			}

		};

		abstract Sender sender(String... hosts);

		static WebClient webClient(String... hosts) {
			WebClient.Builder builder = WebClient.builder();
			new FencingExchangeFilter(new FencedHosts(List.of(hosts))).addTo(builder);
			return builder.build();
		}

		static Sender sender(RestClient client) {
			return (method, uri, body, key) -> {
				RestClient.RequestBodySpec request = client.method(method).uri(URI.create(uri));
				if (key.length > 0) {
					request.header("Idempotency-Key", key[0]);
				}
				if (!body.isEmpty()) {
					request.body(body);
				}
				HttpStatusCode status = request.exchange((sent, response) -> response.getStatusCode());
				assertThat(status).isNotNull();
				return status;
			};
		}

	}

}
