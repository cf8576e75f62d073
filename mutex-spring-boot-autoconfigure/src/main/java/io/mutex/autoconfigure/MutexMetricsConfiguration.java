package io.mutex.autoconfigure;

import java.time.InstantSource;

import io.micrometer.core.instrument.MeterRegistry;
import io.mutex.LockProvider;
import io.mutex.interceptor.MutexAnnotationBeanPostProcessor;
import io.mutex.metrics.MutexMetrics;
import io.mutex.metrics.SingleRunMeters;
import io.mutex.status.ClockOffset;
import io.mutex.status.LastSuccesses;
import io.mutex.status.LongHolds;
import io.mutex.status.OverdueRuns;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * The metrics of leases and single runs.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(MeterRegistry.class)
@ConditionalOnBean(MeterRegistry.class)
class MutexMetricsConfiguration {

	@Bean
	@ConditionalOnMissingBean
	MutexMetrics mutexMetrics(ObjectProvider<MeterRegistry> registry, ObjectProvider<LockProvider> provider) {
		return new MutexMetrics(registry::getIfUnique, () -> provider.getObject().name());
	}

	@Bean
	@ConditionalOnMissingBean
	SingleRunMeters mutexSingleRunMeters(MutexAnnotationBeanPostProcessor postProcessor, LastSuccesses successes,
			OverdueRuns overdue, LongHolds longHolds, ClockOffset offset) {
		return new SingleRunMeters(postProcessor::declaredRuns, successes, overdue, longHolds, offset,
				InstantSource.system());
	}

}
