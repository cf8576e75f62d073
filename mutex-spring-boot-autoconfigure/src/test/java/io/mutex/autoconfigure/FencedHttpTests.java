package io.mutex.autoconfigure;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;

import javax.sql.DataSource;

import io.mutex.fence.FenceGuard;
import io.mutex.fence.MemoryGuard;
import io.mutex.http.FencingClientInterceptor;
import io.mutex.http.FencingExchangeFilter;
import io.mutex.http.FencingFilter;
import io.mutex.http.FencingWebFilter;
import io.mutex.http.IdempotencyFilter;
import io.mutex.http.IdempotencyStore;
import io.mutex.http.IdempotencyWebFilter;
import io.mutex.http.MemoryIdempotencyStore;
import jakarta.servlet.Filter;
import jakarta.servlet.ServletException;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.restclient.RestClientCustomizer;
import org.springframework.boot.restclient.RestTemplateBuilder;
import org.springframework.boot.restclient.autoconfigure.RestClientAutoConfiguration;
import org.springframework.boot.restclient.autoconfigure.RestTemplateAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.boot.webclient.WebClientCustomizer;
import org.springframework.boot.webclient.autoconfigure.WebClientAutoConfiguration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.web.client.RestClient;
import org.springframework.web.reactive.function.client.WebClient;
import org.springframework.web.server.WebFilter;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link FencedHttpClientConfiguration} and
 * {@link FencedHttpServerConfiguration}.
 */
class FencedHttpTests {

	private static final String SERVER = "mutex.fenced.http.server.enabled=true";

	private static final String IDEMPOTENCY = "mutex.fenced.http.server.idempotency.enabled=true";

	private static final String[] PROPERTIES = { "mutex.provider=memory", "spring.application.name=test" };

	private final ApplicationContextRunner clients = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(MutexAutoConfiguration.class, RestClientAutoConfiguration.class,
				RestTemplateAutoConfiguration.class, WebClientAutoConfiguration.class))
		.withPropertyValues(PROPERTIES);

	private final WebApplicationContextRunner servlet = new WebApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(MutexAutoConfiguration.class))
		.withPropertyValues(PROPERTIES);

	private final ReactiveWebApplicationContextRunner reactive = new ReactiveWebApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(MutexAutoConfiguration.class))
		.withPropertyValues(PROPERTIES);

	@Test
	void clientsAreLeftAloneWhereNoHostIsNamed() {
		for (String hosts : List.of("mutex.fenced.http.hosts=", "some.property=x")) {
			this.clients.withPropertyValues(hosts)
				.run((context) -> assertThat(context).hasNotFailed()
					.doesNotHaveBean(FencingClientInterceptor.class)
					.doesNotHaveBean(FencingExchangeFilter.class));
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "mutex.fenced.http.hosts=ledger.internal", "mutex.fenced.http.hosts[0]=ledger.internal" })
	void clientsOfSpringBootAreCustomized(String hosts) {
		this.clients.withPropertyValues(hosts).run((context) -> {
			FencingClientInterceptor interceptor = context.getBean(FencingClientInterceptor.class);
			context.getBean(RestClient.Builder.class)
				.requestInterceptors((interceptors) -> assertThat(interceptors).contains(interceptor));
			assertThat(context.getBean(RestTemplateBuilder.class).build().getInterceptors()).contains(interceptor);
			FencingExchangeFilter filter = context.getBean(FencingExchangeFilter.class);
			context.getBean(WebClient.Builder.class).filters((filters) -> assertThat(filters).contains(filter));
		});
	}

	@Test
	void hostThatIsNoHostFailsTheStart() {
		this.clients.withPropertyValues("mutex.fenced.http.hosts=http://ledger.internal")
			.run((context) -> assertThat(context.getStartupFailure()).rootCause()
				.hasMessageContaining("'http://ledger.internal'"));
	}

	@Test
	void clientsDoWithoutEachOther() {
		ApplicationContextRunner named = new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(MutexAutoConfiguration.class))
			.withPropertyValues(PROPERTIES)
			.withPropertyValues("mutex.fenced.http.hosts=ledger.internal");
		named.withClassLoader(new FilteredClassLoader(without(RestClientCustomizer.class)))
			.run((context) -> assertThat(context).hasNotFailed()
				.hasSingleBean(FencingExchangeFilter.class)
				.doesNotHaveBean(FencingClientInterceptor.class));
		named.withClassLoader(new FilteredClassLoader(without(WebClientCustomizer.class).or(without(WebClient.class))))
			.run((context) -> assertThat(context).hasNotFailed()
				.doesNotHaveBean(FencingExchangeFilter.class)
				.hasSingleBean(FencingClientInterceptor.class));
	}

	@Test
	void serverIsLeftAloneUnlessItIsAskedFor() {
		this.servlet.withBean(FenceGuard.class, MemoryGuard::new)
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(FilterRegistrationBean.class));
		this.reactive.withBean(FenceGuard.class, MemoryGuard::new)
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(WebFilter.class));
		this.clients.withPropertyValues(SERVER, IDEMPOTENCY)
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(IdempotencyStore.class));
	}

	@Test
	void servletFiltersStandBehindThoseOfSpringSecurity() {
		this.servlet.withBean(FenceGuard.class, MemoryGuard::new)
			.withPropertyValues(SERVER, IDEMPOTENCY)
			.run((context) -> {
				Map<String, FilterRegistrationBean<?>> filters = filters(
						context.getBeansOfType(FilterRegistrationBean.class));
				assertThat(filters).hasSize(2);
				FilterRegistrationBean<?> fencing = filters.get("mutexFencingFilter");
				FilterRegistrationBean<?> idempotency = filters.get("mutexIdempotencyFilter");
				assertThat(fencing).isNotNull();
				assertThat(idempotency).isNotNull();
				assertThat(fencing.getFilter()).isInstanceOf(FencingFilter.class);
				assertThat(idempotency.getFilter()).isInstanceOf(IdempotencyFilter.class);
				assertThat(fencing.getOrder()).isGreaterThan(-100).isLessThan(idempotency.getOrder());
				assertThat(context).hasSingleBean(MemoryIdempotencyStore.class);
			});
	}

	@SuppressWarnings({ "unchecked", "rawtypes" })
	private static Map<String, FilterRegistrationBean<?>> filters(Map<String, FilterRegistrationBean> beans) {
		return (Map) beans;
	}

	@Test
	void webFluxFiltersStandInTheSameOrder() {
		this.reactive.withBean(FenceGuard.class, MemoryGuard::new)
			.withPropertyValues(SERVER, IDEMPOTENCY)
			.run((context) -> {
				List<WebFilter> filters = context.getBeanProvider(WebFilter.class).orderedStream().toList();
				assertThat(filters).hasSize(2);
				assertThat(filters.get(0)).isInstanceOf(FencingWebFilter.class);
				assertThat(filters.get(1)).isInstanceOf(IdempotencyWebFilter.class);
			});
	}

	@Test
	void keysAreLookedAtWhereThereIsAStoreOrTheProperty() {
		this.servlet.withBean(FenceGuard.class, MemoryGuard::new)
			.withPropertyValues(SERVER)
			.run((context) -> assertThat(context).doesNotHaveBean(IdempotencyStore.class)
				.doesNotHaveBean("mutexIdempotencyFilter")
				.hasBean("mutexFencingFilter"));
		WebApplicationContextRunner own = this.servlet.withBean(FenceGuard.class, MemoryGuard::new)
			.withBean("own", IdempotencyStore.class, () -> new MemoryIdempotencyStore(1));
		own.withPropertyValues(SERVER)
			.run((context) -> assertThat(context).hasSingleBean(IdempotencyStore.class)
				.hasBean("mutexIdempotencyFilter"));
		own.withPropertyValues(SERVER, IDEMPOTENCY)
			.run((context) -> assertThat(context).hasSingleBean(IdempotencyStore.class).hasBean("own"));
		own.withPropertyValues(SERVER, "mutex.fenced.http.server.idempotency.enabled=false")
			.run((context) -> assertThat(context).doesNotHaveBean("mutexIdempotencyFilter"));
	}

	@Test
	void serverWithoutAGuardFailsTheStartAndSaysWhatToSet() {
		this.servlet.withPropertyValues(SERVER)
			.run((context) -> assertThat(context.getStartupFailure()).rootCause()
				.hasMessageContaining("mutex.fenced.http.server.enabled")
				.hasMessageContaining("mutex.fenced.jdbc.enabled=true"));
		this.reactive.withPropertyValues(SERVER)
			.run((context) -> assertThat(context.getStartupFailure()).rootCause().hasMessageContaining("FenceGuard"));
	}

	@Test
	void serverDoesWithoutServletsOrWebFlux() {
		this.servlet.withBean(FenceGuard.class, MemoryGuard::new)
			.withPropertyValues(SERVER, IDEMPOTENCY)
			.withClassLoader(new FilteredClassLoader(without(WebClient.class)
				.or((name) -> name.startsWith("reactor.") || name.startsWith("org.reactivestreams."))))
			.run((context) -> assertThat(context).hasNotFailed().hasBean("mutexIdempotencyFilter"));
		this.reactive.withBean(FenceGuard.class, MemoryGuard::new)
			.withPropertyValues(SERVER, IDEMPOTENCY)
			.withClassLoader(new FilteredClassLoader(without(Filter.class)))
			.run((context) -> assertThat(context).hasNotFailed().hasBean("mutexIdempotencyWebFilter"));
	}

	@Test
	@DisplayName("C70 a request that is overtaken while it is processed is refused at its commit")
	void overtakenRequestIsRefusedAtItsCommit() {
		JdbcDataSource dataSource = new JdbcDataSource();
		dataSource.setURL("jdbc:h2:mem:http" + System.nanoTime() + ";DB_CLOSE_DELAY=-1");
		this.servlet
			.withConfiguration(AutoConfigurations.of(DataSourceTransactionManagerAutoConfiguration.class,
					TransactionAutoConfiguration.class))
			.withBean(DataSource.class, () -> dataSource)
			.withPropertyValues(SERVER, "mutex.fenced.jdbc.enabled=true", "mutex.jdbc.initialize-schema=always")
			.run((context) -> {
				assertThat(context).hasNotFailed();
				Filter filter = context.getBean("mutexFencingFilter", FilterRegistrationBean.class).getFilter();
				JdbcTemplate jdbc = new JdbcTemplate(context.getBean(DataSource.class));
				jdbc.execute("CREATE TABLE entry (text VARCHAR(20))");
				TransactionTemplate transaction = new TransactionTemplate(
						context.getBean(PlatformTransactionManager.class));
				int newer = 2;
				int older = 1;
				assertThat(handle(filter, older, () -> transaction.executeWithoutResult((status) -> {
					jdbc.update("INSERT INTO entry VALUES ('older')");
					assertThat(CompletableFuture
						.supplyAsync(() -> handle(filter, newer,
								() -> transaction.executeWithoutResult(
										(inner) -> jdbc.update("INSERT INTO entry VALUES ('newer')"))))
						.join()).isEqualTo(200);
				}))).isEqualTo(409);
				assertThat(jdbc.queryForList("SELECT text FROM entry", String.class)).containsExactly("newer");
			});
	}

	private static int handle(Filter filter, int token, Runnable work) {
		MockHttpServletRequest request = new MockHttpServletRequest("POST", "/ledger");
		request.addHeader("Fencing-Token", "ledger;" + token + ";0123456789abcdef0123456789abcde" + token);
		MockHttpServletResponse response = new MockHttpServletResponse();
		try {
			filter.doFilter(request, response, (handled, answer) -> work.run());
		}
		catch (ServletException | IOException ex) {
			throw new IllegalStateException(ex);
		}
		return response.getStatus();
	}

	@ParameterizedTest
	@ValueSource(strings = { "mutex.fenced.http.server.idempotency.ttl=0s",
			"mutex.fenced.http.server.idempotency.max-size=0", "mutex.fenced.http.server.idempotency.max-size=2GB" })
	void refusesBadValues(String property) {
		this.clients.withPropertyValues(property)
			.run((context) -> assertThat(context.getStartupFailure())
				.hasStackTraceContaining(property.substring(property.indexOf('.') + 1, property.indexOf('='))));
	}

	private static Predicate<String> without(Class<?> type) {
		return (name) -> name.replace('/', '.').startsWith(type.getPackageName() + ".");
	}

}
