package io.mutex.autoconfigure;

import java.util.concurrent.atomic.AtomicBoolean;

import io.mutex.LockProvider;
import io.mutex.engine.LockEngine;
import io.mutex.interceptor.MutexAnnotationBeanPostProcessor;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.event.ContextRefreshedEvent;

/**
 * Has the jobs run whose last unit was missed, once, when the context has started. The
 * events of its child contexts count for nothing.
 */
final class CatchUpAtStart implements ApplicationListener<ContextRefreshedEvent> {

	private final ApplicationContext context;

	private final MutexAnnotationBeanPostProcessor postProcessor;

	private final ObjectProvider<LockEngine> engine;

	private final ObjectProvider<LockProvider> provider;

	private final AtomicBoolean done = new AtomicBoolean();

	CatchUpAtStart(ApplicationContext context, MutexAnnotationBeanPostProcessor postProcessor,
			ObjectProvider<LockEngine> engine, ObjectProvider<LockProvider> provider) {
		this.context = context;
		this.postProcessor = postProcessor;
		this.engine = engine;
		this.provider = provider;
	}

	// A template of the application's own keeps no records that are known here.
	private @Nullable LockProvider records() {
		return (this.engine.getIfAvailable() != null) ? this.provider.getObject() : null;
	}

	@Override
	public void onApplicationEvent(ContextRefreshedEvent event) {
		if (event.getApplicationContext() == this.context && this.done.compareAndSet(false, true)) {
			this.postProcessor.catchUp(this::records);
		}
	}

}
