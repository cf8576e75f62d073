package io.mutex.autoconfigure;

import io.mutex.LockProvider;
import io.mutex.actuate.endpoint.LocksEndpoint;
import io.mutex.engine.LockEngine;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * The endpoint that shows the locks.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
class LocksEndpointConfiguration {

	/**
	 * Read only where Actuator is there.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnAvailableEndpoint(LocksEndpoint.class)
	static class Available {

		@Bean
		@ConditionalOnMissingBean
		LocksEndpoint mutexLocksEndpoint(ObjectProvider<LockProvider> provider, ObjectProvider<LockEngine> engine,
				LockProviderSelector selector) {
			return new LocksEndpoint(provider::getObject, engine::getIfAvailable, selector::namespace);
		}

	}

}
