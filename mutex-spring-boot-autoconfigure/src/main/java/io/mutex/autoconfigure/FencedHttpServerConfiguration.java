package io.mutex.autoconfigure;

import java.util.List;

import io.mutex.MutexListener;
import io.mutex.StoreSetupException;
import io.mutex.fence.FenceGuard;
import io.mutex.http.FencedRequests;
import io.mutex.http.IdempotencyStore;
import io.mutex.http.MemoryIdempotencyStore;
import io.mutex.http.RequestPaths;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.web.util.pattern.PathPattern;

/**
 * Fencing tokens of requests that are received. The filters stand behind those of Spring
 * Security, so that only authenticated senders can shut others out.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBooleanProperty("mutex.fenced.http.server.enabled")
@ConditionalOnWebApplication
@ConditionalOnClass(PathPattern.class)
@Import({ FencedHttpServerConfiguration.Idempotency.class, FencedServletConfiguration.class,
		FencedWebFluxConfiguration.class })
class FencedHttpServerConfiguration {

	static final int ORDER = 0;

	@Bean
	@ConditionalOnMissingBean
	FencedRequests mutexFencedRequests(ObjectProvider<FenceGuard> guards, ObjectProvider<MutexListener> listeners,
			MutexProperties properties) {
		List<FenceGuard> all = guards.orderedStream().toList();
		if (all.isEmpty()) {
			throw new StoreSetupException(
					"mutex.fenced.http.server.enabled is set, but there is no guard that could refuse a stale token.",
					"Set mutex.provider=jdbc, mutex.fenced.jdbc.enabled=true or mutex.fenced.redis.enabled=true for a "
							+ "guard in a database or in Redis, or declare a bean of the type FenceGuard.",
					null);
		}
		return new FencedRequests(all, listeners.orderedStream().toList(),
				properties.fenced().http().server().required());
	}

	@Bean
	RequestPaths mutexFencedRequestPaths(MutexProperties properties) {
		return new RequestPaths(properties.fenced().http().server().paths());
	}

	/**
	 * Answers in memory, where the application asks for it and has no store of its own.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnBooleanProperty("mutex.fenced.http.server.idempotency.enabled")
	static class Idempotency {

		@Bean
		@ConditionalOnMissingBean
		IdempotencyStore mutexIdempotencyStore(MutexProperties properties) {
			return new MemoryIdempotencyStore(properties.fenced().http().server().idempotency().maxMemory().toBytes());
		}

	}

}
