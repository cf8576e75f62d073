package io.mutex.autoconfigure;

import io.mutex.http.FencedRequests;
import io.mutex.http.FencingWebFilter;
import io.mutex.http.IdempotencyStore;
import io.mutex.http.IdempotencyWebFilter;
import io.mutex.http.RequestPaths;
import reactor.core.publisher.Mono;

import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.web.server.WebFilter;

/**
 * Fencing tokens and idempotency keys of WebFlux requests.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
@ConditionalOnClass({ WebFilter.class, Mono.class })
class FencedWebFluxConfiguration {

	@Bean
	@Order(FencedHttpServerConfiguration.ORDER)
	FencingWebFilter mutexFencingWebFilter(FencedRequests requests, RequestPaths paths) {
		return new FencingWebFilter(requests, paths);
	}

	@Bean
	@Order(FencedHttpServerConfiguration.ORDER + 1)
	@ConditionalOnBean(IdempotencyStore.class)
	@ConditionalOnBooleanProperty(name = "mutex.fenced.http.server.idempotency.enabled", matchIfMissing = true)
	IdempotencyWebFilter mutexIdempotencyWebFilter(IdempotencyStore store, RequestPaths paths,
			MutexProperties properties) {
		return new IdempotencyWebFilter(properties.fenced().http().server().idempotency().requests(store), paths);
	}

}
