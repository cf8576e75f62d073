package io.mutex.autoconfigure;

import io.mutex.http.FencedRequests;
import io.mutex.http.FencingFilter;
import io.mutex.http.IdempotencyFilter;
import io.mutex.http.IdempotencyStore;
import io.mutex.http.RequestPaths;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;

import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Fencing tokens and idempotency keys of servlet requests.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@ConditionalOnClass({ Filter.class, FilterRegistrationBean.class })
class FencedServletConfiguration {

	@Bean
	FilterRegistrationBean<FencingFilter> mutexFencingFilter(FencedRequests requests, RequestPaths paths) {
		FilterRegistrationBean<FencingFilter> filter = new FilterRegistrationBean<>(new FencingFilter(requests, paths));
		filter.setDispatcherTypes(DispatcherType.REQUEST);
		filter.setOrder(FencedHttpServerConfiguration.ORDER);
		return filter;
	}

	@Bean
	@ConditionalOnBean(IdempotencyStore.class)
	@ConditionalOnBooleanProperty(name = "mutex.fenced.http.server.idempotency.enabled", matchIfMissing = true)
	FilterRegistrationBean<IdempotencyFilter> mutexIdempotencyFilter(IdempotencyStore store, RequestPaths paths,
			MutexProperties properties) {
		FilterRegistrationBean<IdempotencyFilter> filter = new FilterRegistrationBean<>(
				new IdempotencyFilter(properties.fenced().http().server().idempotency().requests(store), paths));
		filter.setDispatcherTypes(DispatcherType.REQUEST, DispatcherType.ASYNC);
		filter.setOrder(FencedHttpServerConfiguration.ORDER + 1);
		return filter;
	}

}
