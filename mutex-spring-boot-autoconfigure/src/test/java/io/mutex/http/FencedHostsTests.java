package io.mutex.http;

import java.net.URI;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests for {@link FencedHosts}.
 */
class FencedHostsTests {

	private final FencedHosts hosts = new FencedHosts(
			List.of("ledger.internal", "Stock.internal:8443", "*.bank.example", "[::1]:8080", "plain:80"));

	@ParameterizedTest
	@ValueSource(strings = { "http://ledger.internal/x", "https://LEDGER.internal:99/x", "https://stock.internal:8443",
			"http://a.bank.example", "http://b.a.bank.example:1", "http://[::1]:8080/", "http://plain/",
			"http://user@ledger.internal/" })
	void listedHostIsTold(String uri) {
		assertThat(this.hosts.contain(URI.create(uri))).isTrue();
	}

	@ParameterizedTest
	@ValueSource(strings = { "http://ledger.internal.example", "http://aledger.internal", "http://stock.internal",
			"http://bank.example", "http://abank.example", "http://[::1]/", "https://plain/", "/relative",
			"http://evil.example/ledger.internal", "http://ledger.internal@evil.example/" })
	void otherHostIsNot(String uri) {
		assertThat(this.hosts.contain(URI.create(uri))).isFalse();
	}

	@Test
	void noListMeansNobody() {
		assertThat(new FencedHosts(List.of()).contain(URI.create("http://localhost"))).isFalse();
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "*", "*.", "http://a", "a/b", "a:0", "a:b", "a b", "a_b", "*.a.*", "a,b", "-a" })
	void anythingElseIsRefused(String host) {
		assertThatIllegalArgumentException().isThrownBy(() -> new FencedHosts(List.of(host)))
			.withMessageContaining("'" + host + "'")
			.withMessageContaining("ledger.internal:8080");
	}

}
