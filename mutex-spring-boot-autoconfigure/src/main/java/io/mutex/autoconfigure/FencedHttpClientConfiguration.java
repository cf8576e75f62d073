package io.mutex.autoconfigure;

import java.util.List;

import io.mutex.http.FencedHosts;
import io.mutex.http.FencingClientInterceptor;
import io.mutex.http.FencingExchangeFilter;

import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.restclient.RestClientCustomizer;
import org.springframework.boot.restclient.RestTemplateCustomizer;
import org.springframework.boot.webclient.WebClientCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.http.client.ClientHttpRequestInterceptor;
import org.springframework.web.reactive.function.client.WebClient;

/**
 * Fencing tokens of requests that are sent, where hosts are named that are told them.
 */
@Configuration(proxyBeanMethods = false)
@Conditional(FencedHttpClientConfiguration.HostsCondition.class)
class FencedHttpClientConfiguration {

	private static FencedHosts hosts(MutexProperties properties) {
		return new FencedHosts(properties.fenced().http().hosts());
	}

	/**
	 * Clients that block.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ RestClientCustomizer.class, ClientHttpRequestInterceptor.class })
	static class RestClientConfiguration {

		@Bean
		@ConditionalOnMissingBean
		FencingClientInterceptor mutexFencingClientInterceptor(MutexProperties properties) {
			return new FencingClientInterceptor(hosts(properties));
		}

		@Bean
		RestClientCustomizer mutexFencingRestClientCustomizer(FencingClientInterceptor interceptor) {
			return (builder) -> builder.requestInterceptor(interceptor);
		}

		@Bean
		RestTemplateCustomizer mutexFencingRestTemplateCustomizer(FencingClientInterceptor interceptor) {
			return (template) -> template.getInterceptors().add(interceptor);
		}

	}

	/**
	 * Clients that do not block.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ WebClientCustomizer.class, WebClient.class })
	static class WebClientConfiguration {

		@Bean
		@ConditionalOnMissingBean
		FencingExchangeFilter mutexFencingExchangeFilter(MutexProperties properties) {
			return new FencingExchangeFilter(hosts(properties));
		}

		@Bean
		WebClientCustomizer mutexFencingWebClientCustomizer(FencingExchangeFilter filter) {
			return filter::addTo;
		}

	}

	/**
	 * Matches if a host is named.
	 */
	static class HostsCondition extends SpringBootCondition {

		private static final String PROPERTY = "mutex.fenced.http.hosts";

		@Override
		public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
			List<String> hosts = Binder.get(context.getEnvironment())
				.bind(PROPERTY, Bindable.listOf(String.class))
				.orElse(List.of());
			return new ConditionOutcome(!hosts.isEmpty(), PROPERTY + " is " + hosts);
		}

	}

}
