package io.mutex.autoconfigure;

import io.micrometer.observation.ObservationRegistry;
import io.mutex.MutexTemplate;
import io.mutex.engine.LockEngine;
import io.mutex.metrics.ObservedTemplate;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Primary;

/**
 * Observations of protected work, for tracing.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(ObservationRegistry.class)
@ConditionalOnBean(ObservationRegistry.class)
class MutexObservationConfiguration {

	static final String TEMPLATE_BEAN_NAME = "mutexObservedTemplate";

	@Bean(TEMPLATE_BEAN_NAME)
	@Lazy
	@Primary
	@ConditionalOnMissingBean(value = MutexTemplate.class, search = SearchStrategy.CURRENT)
	@Conditional(NoTemplateOfParentCondition.class)
	ObservedTemplate mutexObservedTemplate(@Qualifier(MutexAutoConfiguration.ENGINE_BEAN_NAME) LockEngine engine,
			ObjectProvider<ObservationRegistry> registry) {
		return new ObservedTemplate(engine, registry::getObject);
	}

}
