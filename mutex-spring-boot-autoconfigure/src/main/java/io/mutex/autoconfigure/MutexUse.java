package io.mutex.autoconfigure;

import java.util.function.BooleanSupplier;

import io.mutex.interceptor.MutexAnnotationBeanPostProcessor;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * Whether the application uses locks: a bean has annotated methods, or something has
 * asked for the template. An application that does not needs no store.
 */
final class MutexUse implements BooleanSupplier {

	private final ConfigurableListableBeanFactory beanFactory;

	private final MutexAnnotationBeanPostProcessor postProcessor;

	MutexUse(ConfigurableListableBeanFactory beanFactory, MutexAnnotationBeanPostProcessor postProcessor) {
		this.beanFactory = beanFactory;
		this.postProcessor = postProcessor;
	}

	@Override
	public boolean getAsBoolean() {
		return this.postProcessor.hasOperations()
				|| this.beanFactory.containsSingleton(MutexAutoConfiguration.ENGINE_BEAN_NAME);
	}

}
