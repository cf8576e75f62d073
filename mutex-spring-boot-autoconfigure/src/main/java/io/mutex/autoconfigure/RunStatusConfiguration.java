package io.mutex.autoconfigure;

import java.time.InstantSource;
import java.util.List;

import io.mutex.LockProvider;
import io.mutex.engine.LockEngine;
import io.mutex.interceptor.MutexAnnotationBeanPostProcessor;
import io.mutex.status.ClockOffset;
import io.mutex.status.LastSuccesses;
import io.mutex.status.LongHolds;
import io.mutex.status.OverdueRuns;
import io.mutex.status.RunLog;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * What an instance knows of its single runs.
 */
@Configuration(proxyBeanMethods = false)
class RunStatusConfiguration {

	private static final InstantSource CLOCK = InstantSource.system();

	@Bean
	RunLog mutexRunLog() {
		return new RunLog(CLOCK);
	}

	@Bean
	LastSuccesses mutexLastSuccesses() {
		return new LastSuccesses(CLOCK);
	}

	@Bean
	ClockOffset mutexClockOffset() {
		return new ClockOffset(CLOCK);
	}

	@Bean
	OverdueRuns mutexOverdueRuns(MutexAnnotationBeanPostProcessor postProcessor, ObjectProvider<LockProvider> provider,
			LastSuccesses successes) {
		return new OverdueRuns(postProcessor::declaredRuns, provider::getObject, successes, CLOCK);
	}

	@Bean
	LongHolds mutexLongHolds(MutexAnnotationBeanPostProcessor postProcessor, ObjectProvider<LockEngine> engine,
			ConfigurableListableBeanFactory beanFactory) {
		// asking must not create the engine, nor the store below it
		return new LongHolds(() -> beanFactory.containsSingleton(MutexAutoConfiguration.ENGINE_BEAN_NAME)
				? engine.getObject().leases() : List.of(), postProcessor::declaredRuns, CLOCK);
	}

}
