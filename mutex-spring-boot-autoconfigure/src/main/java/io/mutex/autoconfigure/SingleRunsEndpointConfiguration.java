package io.mutex.autoconfigure;

import java.time.Duration;

import io.mutex.LockProvider;
import io.mutex.actuate.endpoint.RunsByHand;
import io.mutex.actuate.endpoint.SingleRunsEndpoint;
import io.mutex.interceptor.MutexAnnotationBeanPostProcessor;
import io.mutex.status.LastSuccesses;
import io.mutex.status.OverdueRuns;
import io.mutex.status.RunLog;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * The endpoint that shows the single runs.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
class SingleRunsEndpointConfiguration {

	/**
	 * Read only where Actuator is there.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnAvailableEndpoint(SingleRunsEndpoint.class)
	static class Available {

		private static final Duration PATIENCE = Duration.ofSeconds(10);

		@Bean
		@ConditionalOnMissingBean
		RunsByHand mutexRunsByHand(MutexAnnotationBeanPostProcessor postProcessor) {
			return new RunsByHand(postProcessor::call, PATIENCE);
		}

		@Bean
		@ConditionalOnMissingBean
		SingleRunsEndpoint mutexSingleRunsEndpoint(ObjectProvider<LockProvider> provider, LockProviderSelector selector,
				MutexProperties properties, MutexAnnotationBeanPostProcessor postProcessor, RunLog log,
				LastSuccesses successes, OverdueRuns overdue, RunsByHand byHand) {
			return new SingleRunsEndpoint(provider::getObject, selector::namespace, properties.instance(),
					postProcessor::declaredRuns, log, successes, overdue, byHand);
		}

	}

}
