package io.mutex.autoconfigure;

import java.time.Duration;
import java.time.ZoneId;
import java.util.List;

import io.mutex.LockProvider;
import io.mutex.MutexListener;
import io.mutex.MutexTemplate;
import io.mutex.annotation.CatchUp;
import io.mutex.engine.EngineSettings;
import io.mutex.engine.LockEngine;
import io.mutex.engine.RunSurroundings;
import io.mutex.engine.UnlockedTemplate;
import io.mutex.fence.FenceGuard;
import io.mutex.interceptor.InterceptorSettings;
import io.mutex.interceptor.MutexAnnotationBeanPostProcessor;
import io.mutex.interceptor.RunAdvice;
import io.mutex.interceptor.RunRetention;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;

/**
 * Auto-configuration of Mutex.
 */
@AutoConfiguration(afterName = { "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
		"org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration",
		"org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
		"org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration" })
@EnableConfigurationProperties(MutexProperties.class)
@Import(RedisFenceConfiguration.class)
public class MutexAutoConfiguration {

	static final String ENGINE_BEAN_NAME = "mutexEngine";

	private static final String PROVIDER_BEAN_NAME = "mutexLockProvider";

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	public static MutexAnnotationBeanPostProcessor mutexAnnotationBeanPostProcessor(
			ObjectProvider<MutexTemplate> template, ObjectProvider<MutexProperties> properties,
			ObjectProvider<RunAdvice> runAdvice) {
		return new MutexAnnotationBeanPostProcessor(template::getObject,
				() -> interceptorSettings(properties.getObject()), () -> runAdvice.getIfAvailable(RunAdvice::none));
	}

	// by that name, a child context does not take it for one of the application's own
	@Bean(ENGINE_BEAN_NAME)
	@ConditionalOnBooleanProperty(name = "mutex.enabled", havingValue = false)
	@ConditionalOnMissingBean
	MutexTemplate mutexUnlockedTemplate() {
		return new UnlockedTemplate();
	}

	private static InterceptorSettings interceptorSettings(MutexProperties properties) {
		MutexProperties.SingleRun singleRun = properties.singleRun();
		MutexProperties.Fenced fenced = properties.fenced();
		ZoneId zone = (properties.zone() != null) ? properties.zone() : ZoneId.systemDefault();
		return new InterceptorSettings(zone, properties.enabled() && singleRun.records(),
				singleRun.catchUp() == CatchUp.LAST, singleRun.lease(), singleRun.maxHold(), fenced.waitFor(),
				fenced.lease(), fenced.maxHold(),
				new RunRetention(singleRun.retention(), singleRun.explicitUnitRetention()));
	}

	/**
	 * The store, the engine and what shows them.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnBooleanProperty(name = "mutex.enabled", matchIfMissing = true)
	@Import({ FileLockConfiguration.class, JdbcLockConfiguration.class, RedisLockConfiguration.class,
			JdbcFenceConfiguration.class, MissingFenceTechnologyConfiguration.class,
			FencedHttpClientConfiguration.class, FencedHttpServerConfiguration.class, RunStatusConfiguration.class,
			LocksEndpointConfiguration.class, SingleRunsEndpointConfiguration.class, MutexHealthConfiguration.class,
			MutexInfoConfiguration.class, MutexMetricsConfiguration.class, MutexObservationConfiguration.class,
			TransactionalRecordConfiguration.class })
	static class EnabledConfiguration {

		@Bean
		LockProviderSelector mutexLockProviderSelector(MutexProperties properties, Environment environment,
				List<LockProviderFactory> factories, ConfigurableListableBeanFactory beanFactory) {
			return new LockProviderSelector(properties, environment, factories, () -> isProviderOfParent(beanFactory));
		}

		private static boolean isProviderOfParent(ConfigurableListableBeanFactory beanFactory) {
			BeanFactory parent = beanFactory.getParentBeanFactory();
			return parent != null && parent.containsBean(PROVIDER_BEAN_NAME)
					&& beanFactory.getBeanNamesForType(LockProvider.class, true, false).length == 0;
		}

		@Bean(PROVIDER_BEAN_NAME)
		@Lazy
		@ConditionalOnMissingBean
		LockProvider mutexLockProvider(LockProviderSelector selector) {
			return selector.create();
		}

		@Bean(ENGINE_BEAN_NAME)
		@Lazy
		@ConditionalOnMissingBean(value = MutexTemplate.class, ignoredType = "io.mutex.metrics.ObservedTemplate",
				search = SearchStrategy.CURRENT)
		@Conditional(NoTemplateOfParentCondition.class)
		LockEngine mutexEngine(LockProvider provider, MutexProperties properties,
				ObjectProvider<MutexListener> listeners, ObjectProvider<RunSurroundings> surroundings,
				ObjectProvider<FenceGuard> guards) {
			LockEngine engine = new LockEngine(provider, engineSettings(properties),
					listeners.orderedStream().toList());
			engine.guardBy(guards.orderedStream().toList());
			surroundings.ifAvailable(engine::surroundBy);
			engine.guardBy(guards.orderedStream().toList());
			engine.monitorBy(properties.monitor().settings());
			return engine;
		}

		@Bean
		MutexListener mutexEventPublisher(ApplicationEventPublisher publisher) {
			return new EventPublishingListener(publisher);
		}

		@Bean
		MutexUse mutexUse(ConfigurableListableBeanFactory beanFactory, MutexAnnotationBeanPostProcessor postProcessor) {
			return new MutexUse(beanFactory, postProcessor);
		}

		@Bean
		MutexLifecycle mutexLifecycle(ObjectProvider<LockEngine> engine, ObjectProvider<LockProvider> provider,
				LockProviderSelector selector, MutexUse use, MutexAnnotationBeanPostProcessor postProcessor,
				MutexProperties properties, Environment environment, ListableBeanFactory beanFactory) {
			return new MutexLifecycle(engine, provider, selector, use,
					() -> beanFactory.getBeanNamesForType(LockEngine.class, true, false).length > 0, postProcessor,
					drainTimeout(properties, environment));
		}

		@Bean
		CatchUpAtStart mutexCatchUpAtStart(ApplicationContext context, MutexAnnotationBeanPostProcessor postProcessor,
				ObjectProvider<LockEngine> engine, ObjectProvider<LockProvider> provider) {
			return new CatchUpAtStart(context, postProcessor, engine, provider);
		}

		private static EngineSettings engineSettings(MutexProperties properties) {
			return new EngineSettings(properties.instance(), properties.singleRun().lease(),
					properties.singleRun().maxHold(), properties.fenced().lease(), properties.fenced().maxHold(),
					properties.interruptOnLoss(), properties.waiting().minPoll(), properties.waiting().maxPoll(),
					properties.singleRun().retention());
		}

		private static Duration drainTimeout(MutexProperties properties, Environment environment) {
			Duration phase = Binder.get(environment)
				.bind("spring.lifecycle.timeout-per-shutdown-phase", Duration.class)
				.orElse(Duration.ofSeconds(30));
			return properties.shutdown().drainTimeoutWithin(phase);
		}

	}

}
