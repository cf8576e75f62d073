package io.mutex.http;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import io.mutex.FencingToken;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a server has to answer, whatever it is built with. It runs in another process.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class FencedServerContract {

	private final String stack;

	private final HttpClient client = HttpClient.newHttpClient();

	@SuppressWarnings("NullAway.Init")
	private FencedServerChild server;

	FencedServerContract(String stack) {
		this.stack = stack;
	}

	@BeforeAll
	void start() {
		this.server = FencedServerChild.start(this.stack);
	}

	@AfterAll
	void stop() {
		this.server.close();
	}

	@Test
	@DisplayName("C69 the older token gets 409, also when it arrives later on another thread")
	void olderTokenIsRefusedHoweverLateItArrives() throws Exception {
		String resource = unique();
		CompletableFuture<Void> newerIsDone = new CompletableFuture<>();
		CompletableFuture<HttpResponse<String>> older = newerIsDone
			.thenApplyAsync((done) -> post("/ledger", resource + " by 1", "Fencing-Token", token(resource, 1)));
		HttpResponse<String> newer = post("/ledger", resource + " by 2", "Fencing-Token", token(resource, 2));
		assertThat(newer.statusCode()).isEqualTo(201);
		newerIsDone.complete(null);
		HttpResponse<String> refused = older.get();
		assertThat(refused.statusCode()).isEqualTo(409);
		assertThat(refused.headers().firstValue("Content-Type")).hasValue("application/problem+json");
		assertThat(refused.body()).isEqualTo("{\"type\":\"urn:mutex:problem:stale-fencing-token\","
				+ "\"title\":\"The fencing token is stale\",\"status\":409,\"detail\":\"A later holder has been "
				+ "accepted; nothing of this request may take effect\",\"resource\":\"" + resource
				+ "\",\"token\":1,\"accepted\":2}");
		assertThat(entries(resource)).containsExactly(resource + " by 2");
		assertThat(post("/ledger", resource + " again", "Fencing-Token", token(resource, 2)).statusCode())
			.isEqualTo(201);
		assertThat(post("/ledger", resource + " twin", "Fencing-Token",
				new FencingHeader(resource, new FencingToken(2), "f".repeat(32)).toString())
			.statusCode()).isEqualTo(409);
		assertThat(entries(resource)).containsExactly(resource + " by 2", resource + " again");
	}

	@Test
	@DisplayName("C69 of many requests that arrive in any order, none is accepted after one with a higher token")
	void acceptedTokensNeverFall() {
		String resource = unique();
		List<CompletableFuture<HttpResponse<String>>> answers = IntStream.rangeClosed(1, 40)
			.mapToObj((i) -> (i * 17) % 41)
			.map((token) -> CompletableFuture
				.supplyAsync(() -> post("/ledger", resource + " " + token, "Fencing-Token", token(resource, token))))
			.toList();
		answers.forEach((answer) -> assertThat(answer.join().statusCode()).isIn(201, 409));
		assertThat(post("/ledger", resource + " 39", "Fencing-Token", token(resource, 39)).statusCode()).isEqualTo(409);
		assertThat(entries(resource)).contains(resource + " 40");
		long accepted = answers.stream().filter((answer) -> answer.join().statusCode() == 201).count();
		assertThat(entries(resource)).hasSize((int) accepted);
	}

	@Test
	void readingWithATokenRefusesEarlierHolders() {
		String resource = unique();
		assertThat(get("/ledger", "Fencing-Token", token(resource, 2)).statusCode()).isEqualTo(200);
		assertThat(post("/ledger", resource, "Fencing-Token", token(resource, 1)).statusCode()).isEqualTo(409);
		assertThat(get("/ledger", "Fencing-Token", token(resource, 1)).statusCode()).isEqualTo(409);
		assertThat(entries(resource)).isEmpty();
	}

	@Test
	void oneStaleTokenOfSeveralRefusesTheRequest() {
		String first = unique();
		String second = unique();
		post("/ledger", second, "Fencing-Token", token(second, 2));
		HttpResponse<String> refused = post("/ledger", first, "Fencing-Token", token(first, 1), "Fencing-Token",
				token(second, 1));
		assertThat(refused.statusCode()).isEqualTo(409);
		assertThat(refused.body()).contains("\"resource\":\"" + second + "\"");
		assertThat(entries(first)).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "garbage", "a;1", "a;1;NONCE", "a;0;0123456789abcdef0123456789abcdef" })
	void garbageGets400(String header) {
		HttpResponse<String> answer = post("/ledger", "garbage", "Fencing-Token", header);
		assertThat(answer.statusCode()).isEqualTo(400);
		assertThat(answer.body()).contains("malformed-fencing-token").contains("Fencing-Token");
		assertThat(entries("garbage")).isEmpty();
	}

	@Test
	void requestWithoutATokenPasses() {
		String entry = unique();
		assertThat(post("/ledger", entry).statusCode()).isEqualTo(201);
		assertThat(entries(entry)).hasSize(1);
	}

	@Test
	void refusalWithinTheWorkGets409Too() {
		String resource = unique();
		HttpResponse<String> answer = post("/refused-at-commit", resource, "Fencing-Token", token(resource, 5));
		assertThat(answer.statusCode()).isEqualTo(409);
		assertThat(answer.body()).contains("\"token\":5,\"accepted\":6");
		assertThat(post("/refused-at-commit", unique(), "Fencing-Token", token(resource, 5)).statusCode())
			.isEqualTo(500);
	}

	@Test
	void repeatedRequestGetsTheSameAnswerAndRunsOnce() {
		String entry = unique();
		HttpResponse<String> first = post("/ledger", entry, "Idempotency-Key", entry);
		HttpResponse<String> second = post("/ledger", entry, "Idempotency-Key", entry);
		assertThat(first.statusCode()).isEqualTo(201);
		assertThat(second.statusCode()).isEqualTo(201);
		assertThat(second.body()).isEqualTo(first.body()).startsWith("entry ");
		for (String header : List.of("X-Entry", "Content-Type", "Content-Length")) {
			assertThat(second.headers().allValues(header)).as(header)
				.isEqualTo(first.headers().allValues(header))
				.isNotEmpty();
		}
		assertThat(first.headers().firstValue("Idempotency-Replayed")).isEmpty();
		assertThat(second.headers().firstValue("Idempotency-Replayed")).hasValue("true");
		assertThat(entries(entry)).hasSize(1);
	}

	@Test
	void rerunOfAUnitWithAHigherTokenGetsTheAnswerOfTheFirstRun() {
		String resource = unique();
		HttpResponse<String> first = post("/ledger", resource, "Fencing-Token", token(resource, 1), "Idempotency-Key",
				resource);
		HttpResponse<String> rerun = post("/ledger", resource, "Fencing-Token", token(resource, 2), "Idempotency-Key",
				resource);
		assertThat(rerun.body()).isEqualTo(first.body());
		assertThat(entries(resource)).hasSize(1);
		assertThat(post("/ledger", resource, "Fencing-Token", token(resource, 1), "Idempotency-Key", resource)
			.statusCode()).isEqualTo(409);
	}

	@Test
	void concurrentRepeatsRunOnce() {
		String entry = unique();
		List<CompletableFuture<HttpResponse<String>>> answers = IntStream.range(0, 8)
			.mapToObj((i) -> CompletableFuture.supplyAsync(() -> post("/slow", entry, "Idempotency-Key", entry),
					(task) -> new Thread(task).start()))
			.toList();
		// all but the one that runs are answered while it does
		Awaitility.await()
			.atMost(Duration.ofSeconds(60))
			.until(() -> answers.stream().filter(CompletableFuture::isDone).count() == 7);
		answers.stream().filter(CompletableFuture::isDone).forEach((answer) -> {
			assertThat(answer.join().statusCode()).isEqualTo(409);
			assertThat(answer.join().headers().firstValue("Retry-After")).hasValue("1");
			assertThat(answer.join().body()).contains("request-in-progress");
		});
		post("/release", entry);
		assertThat(answers.stream().map(CompletableFuture::join).map(HttpResponse::body))
			.filteredOn((body) -> body.equals(entry + " done"))
			.hasSize(1);
		assertThat(post("/slow", entry, "Idempotency-Key", entry).body()).isEqualTo(entry + " done");
		assertThat(entries(entry)).hasSize(1);
	}

	@Test
	void anotherRequestWithTheSameKeyGets422() {
		String entry = unique();
		post("/ledger", entry, "Idempotency-Key", entry);
		assertThat(post("/ledger", entry + " other", "Idempotency-Key", entry).statusCode()).isEqualTo(422);
		assertThat(post("/ledger?query", entry, "Idempotency-Key", entry).statusCode()).isEqualTo(422);
		assertThat(post("/lease", entry, "Idempotency-Key", entry).statusCode()).isEqualTo(422);
		assertThat(entries(entry)).hasSize(1);
	}

	@Test
	void failureOfTheServerIsNotKept() {
		String entry = unique();
		assertThat(post("/failing", entry, "Idempotency-Key", entry).statusCode()).isEqualTo(500);
		assertThat(post("/failing", entry, "Idempotency-Key", entry).body()).isEqualTo("done");
		assertThat(post("/failing", entry, "Idempotency-Key", entry).body()).isEqualTo("done");
		assertThat(entries(entry)).hasSize(1);
	}

	@Test
	void answerThatIsTooLargeIsGivenOnceAndTheRequestRunsOnce() {
		String entry = unique();
		assertThat(post("/large", entry, "Idempotency-Key", entry).body()).hasSize(5000);
		HttpResponse<String> again = post("/large", entry, "Idempotency-Key", entry);
		assertThat(again.statusCode()).isEqualTo(409);
		assertThat(again.body()).contains("answer-not-kept").contains("\"answered\":200");
		assertThat(entries(entry)).hasSize(1);
	}

	@Test
	void requestThatIsTooLargeForAKeyGets413() {
		String entry = unique();
		String body = entry + "x".repeat(2000);
		assertThat(post("/ledger", body, "Idempotency-Key", entry).statusCode()).isEqualTo(413);
		assertThat(entries(entry)).isEmpty();
		assertThat(post("/ledger", body).statusCode()).isEqualTo(201);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "a b",
			"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
					+ "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
					+ "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef" })
	void malformedKeyGets400(String key) {
		assertThat(post("/ledger", "malformed", "Idempotency-Key", key).statusCode()).isEqualTo(400);
		assertThat(entries("malformed")).isEmpty();
	}

	String leaseOfTheThread(String resource) {
		return post("/lease", "whose", "Fencing-Token", token(resource, 7)).body();
	}

	private List<String> entries(String prefix) {
		return get("/ledger").body().lines().filter((line) -> line.startsWith(prefix)).toList();
	}

	private HttpResponse<String> get(String path, String... headers) {
		return send(HttpRequest.newBuilder().GET(), path, headers);
	}

	private HttpResponse<String> post(String path, String body, String... headers) {
		return send(HttpRequest.newBuilder()
			.header("Content-Type", "text/plain")
			.POST(HttpRequest.BodyPublishers.ofString(body)), path, headers);
	}

	private HttpResponse<String> send(HttpRequest.Builder request, String path, String... headers) {
		request.uri(URI.create(this.server.uri(path))).timeout(Duration.ofSeconds(60));
		for (int i = 0; i < headers.length; i += 2) {
			request.header(headers[i], headers[i + 1]);
		}
		try {
			return this.client.send(request.build(), BodyHandlers.ofString());
		}
		catch (IOException ex) {
			throw new AssertionError(this.server.output().toString(), ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new AssertionError(ex);
		}
	}

	static String unique() {
		return "account:" + UUID.randomUUID();
	}

	private static String token(String resource, long token) {
		String nonce = String.format("%032d", token);
		return new FencingHeader(resource, new FencingToken(token), nonce).toString();
	}

}
