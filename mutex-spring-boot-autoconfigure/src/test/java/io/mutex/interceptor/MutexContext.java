package io.mutex.interceptor;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.mutex.LeaseCallback;
import io.mutex.LockProvider;
import io.mutex.LockRequest;
import io.mutex.MutexListener;
import io.mutex.MutexTemplate;
import io.mutex.RunResult;
import io.mutex.engine.EngineSettings;
import io.mutex.engine.LockEngine;
import io.mutex.memory.MemoryLockProvider;
import io.mutex.run.Outcome;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanCreationException;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.MapPropertySource;

/**
 * An application context with the interceptor, the engine and locks in memory.
 */
final class MutexContext implements AutoCloseable, MutexListener {

	final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();

	/** What the interceptor asked of the template. */
	final List<LockRequest> requests = new ArrayList<>();

	/** How single runs ended. */
	final List<Run> runs = new ArrayList<>();

	private final LockProvider provider;

	private final LockEngine engine;

	private final Map<String, Object> properties = new HashMap<>();

	private InterceptorSettings settings = InterceptorSettings.defaults();

	private TickWait tickWait = TickWait.onSystemClock();

	private MutexContext(LockProvider provider, String instance) {
		this.provider = provider;
		this.engine = new LockEngine(provider, EngineSettings.defaults(instance), List.of(this));
	}

	static MutexContext create() {
		return on(new MemoryLockProvider());
	}

	static MutexContext on(LockProvider provider) {
		return on(provider, "test");
	}

	static MutexContext on(LockProvider provider, String instance) {
		return new MutexContext(provider, instance);
	}

	static MutexContext of(Class<?>... beans) {
		return create().start(beans);
	}

	MutexContext classLoader(ClassLoader loader) {
		this.context.setClassLoader(loader);
		return this;
	}

	MutexContext property(String name, String value) {
		this.properties.put(name, value);
		return this;
	}

	MutexContext settings(InterceptorSettings settings) {
		this.settings = settings;
		return this;
	}

	MutexContext tickWait(TickWait tickWait) {
		this.tickWait = tickWait;
		return this;
	}

	MutexContext proxyTargetClass(boolean proxyTargetClass) {
		this.context.register(AopAutoConfiguration.class);
		return property("spring.aop.proxy-target-class", Boolean.toString(proxyTargetClass));
	}

	/** Starts the beans; the interceptor is registered after them. */
	MutexContext start(Class<?>... beans) {
		this.context.register(beans);
		this.context.register(Interception.class);
		return refresh();
	}

	/** Starts the beans; the interceptor is registered before them. */
	MutexContext startWithInterceptorFirst(Class<?>... beans) {
		this.context.register(Interception.class);
		this.context.register(beans);
		return refresh();
	}

	private MutexContext refresh() {
		this.context.getEnvironment().getPropertySources().addFirst(new MapPropertySource("test", this.properties));
		this.context.registerBean(MutexContext.class, () -> this, (definition) -> {
			definition.setDestroyMethodName(null);
			definition.setRole(BeanDefinition.ROLE_INFRASTRUCTURE);
		});
		try {
			this.context.refresh();
		}
		catch (RuntimeException ex) {
			this.engine.close();
			throw ex;
		}
		return this;
	}

	/** Starts a context that refuses to, and returns why. */
	MutexConfigurationException refusal(Class<?>... beans) {
		try (MutexContext started = start(beans)) {
			throw new AssertionError("accepted: " + started.context.getBeanDefinitionCount() + " beans");
		}
		catch (BeanCreationException ex) {
			if (ex.getCause() instanceof MutexConfigurationException refusal) {
				return refusal;
			}
			throw ex;
		}
	}

	/** Has the jobs run that were missed, as a starting application does. */
	MutexContext catchUp() {
		bean(MutexAnnotationBeanPostProcessor.class).catchUp(() -> this.provider);
		return this;
	}

	/** How the calls of single runs have ended so far. */
	List<Outcome> outcomes() {
		synchronized (this.runs) {
			return this.runs.stream().map(Run::outcome).toList();
		}
	}

	<T> T bean(Class<T> type) {
		return this.context.getBean(type);
	}

	MutexTemplate template() {
		return this.engine;
	}

	LockRequest lastRequest() {
		return this.requests.get(this.requests.size() - 1);
	}

	@Override
	public void run(Run run) {
		synchronized (this.runs) {
			this.runs.add(run);
		}
	}

	@Override
	public void close() {
		this.context.close();
		this.engine.close();
	}

	@Configuration(proxyBeanMethods = false)
	static class Interception {

		@Bean
		static MutexAnnotationBeanPostProcessor mutexPostProcessor(ObjectProvider<MutexContext> context) {
			return new MutexAnnotationBeanPostProcessor(
					() -> context.getObject().new Recording(context.getObject().engine),
					() -> context.getObject().settings, RunAdvice::none, context.getObject().tickWait);
		}

	}

	private final class Recording implements MutexTemplate {

		private final MutexTemplate delegate;

		Recording(MutexTemplate delegate) {
			this.delegate = delegate;
		}

		@Override
		public <T extends @Nullable Object, E extends Throwable> T execute(LockRequest request,
				LeaseCallback<T, E> body) throws E {
			record(request);
			return this.delegate.execute(request, body);
		}

		@Override
		public <T extends @Nullable Object, E extends Throwable> RunResult<T> singleRun(LockRequest request,
				LeaseCallback<T, E> body) throws E {
			record(request);
			return this.delegate.singleRun(request, body);
		}

		private void record(LockRequest request) {
			synchronized (MutexContext.this.requests) {
				MutexContext.this.requests.add(request);
			}
		}

	}

}
