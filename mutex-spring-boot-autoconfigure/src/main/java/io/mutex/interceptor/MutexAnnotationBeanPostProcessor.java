package io.mutex.interceptor;

import java.lang.reflect.Method;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import io.mutex.LockProvider;
import io.mutex.MutexTemplate;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.Advisor;
import org.springframework.aop.SpringProxy;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.aop.interceptor.AsyncExecutionInterceptor;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.Assert;
import org.springframework.util.function.SingletonSupplier;

/**
 * Puts the interceptor of {@link io.mutex.annotation.SingleRun} and
 * {@link io.mutex.annotation.Fenced} around beans: inside of <code>@Async</code>, outside
 * of everything else that a proxy does, such as <code>@ConcurrencyLimit</code>,
 * <code>@Retryable</code> and <code>@Transactional</code>. So the lock is taken once over
 * all retries and released after the commit.
 * <p>
 * It is the last post-processor of its kind, and steps back behind the advice of
 * <code>@Async</code>. The order does not depend on which of them is registered first.
 * <p>
 * What can never work is refused when the bean is created, with a
 * {@link MutexConfigurationException}.
 */
public class MutexAnnotationBeanPostProcessor extends AbstractBeanFactoryAwareAdvisingPostProcessor
		implements DisposableBean {

	private static final long serialVersionUID = 1L;

	private final transient OperationSource operations;

	private final transient Supplier<InterceptorSettings> settings;

	private final transient InstantSource clock;

	private final transient SingletonSupplier<RepeatSchedulers> schedulers = SingletonSupplier
		.of(() -> new RepeatSchedulers(requiredBeanFactory()));

	private final transient SingletonSupplier<RunRepeater> repeater;

	private final transient Supplier<RunAdvice> runAdvice;

	private final transient FencingCheck fencing = new FencingCheck();

	private final transient Set<Class<?>> checked = ConcurrentHashMap.newKeySet();

	/**
	 * Creates the post-processor.
	 * @param template gives the template, asked for at the first call of an annotated
	 * method
	 * @param settings gives the settings, asked for when the first annotated bean is
	 * created
	 * @param runAdvice gives what else takes part in single runs, asked for when the
	 * first bean with one is created
	 */
	public MutexAnnotationBeanPostProcessor(Supplier<MutexTemplate> template, Supplier<InterceptorSettings> settings,
			Supplier<RunAdvice> runAdvice) {
		this(template, settings, runAdvice, TickWait.onSystemClock());
	}

	MutexAnnotationBeanPostProcessor(Supplier<MutexTemplate> template, Supplier<InterceptorSettings> settings,
			Supplier<RunAdvice> runAdvice, TickWait tickWait) {
		this.settings = SingletonSupplier.of(settings);
		this.runAdvice = SingletonSupplier.of(runAdvice);
		this.clock = tickWait.clock();
		this.repeater = SingletonSupplier.of(() -> new RunRepeater(this.schedulers.obtain(), this.clock));
		this.operations = new OperationSource(
				() -> new OperationFactory(requiredBeanFactory(), this.settings, this.fencing));
		this.advisor = new DefaultPointcutAdvisor(this.operations, new MutexInterceptor(this.operations,
				SingletonSupplier.of(template), this.settings, this.repeater, tickWait, this.runAdvice));
		setBeforeExistingAdvisors(true);
	}

	/**
	 * Whether a bean with annotated methods has been created.
	 * @return {@code false} if no method is protected so far
	 */
	public boolean hasOperations() {
		return !this.checked.isEmpty();
	}

	/**
	 * The single runs of the beans that have been created so far.
	 * @return the single runs, ordered by name
	 */
	public List<DeclaredRun> declaredRuns() {
		return this.operations.declaredRuns(this.settings.get().records());
	}

	/**
	 * Calls the method of a single run by hand, through the proxy of its bean and under
	 * the same rules as any other call.
	 * @param run a single run whose method has no parameters
	 * @return what the method returns; what a skipped call returns if it does not run
	 * @throws Throwable what the method throws
	 */
	public @Nullable Object call(DeclaredRun run) throws Throwable {
		Declaration declaration = this.operations.declaration(run)
			.orElseThrow(() -> new IllegalArgumentException("no bean declares " + run));
		return BeanMethod.call(requiredBeanFactory(), declaration);
	}

	/**
	 * Says of each fenced method who checks its token, also of those whose beans are
	 * created later.
	 * @param guards gives the names of the guards of the application, or {@code null} if
	 * nobody knows them; asked for only if there is a fenced method
	 * @throws MutexConfigurationException if nobody checks the token of a method, and it
	 * does not say that this is known
	 */
	public void checkFencing(Supplier<? extends @Nullable List<String>> guards) {
		this.fencing.start(guards);
	}

	/**
	 * Lets the starter make calls of its own, also again after {@link #stopRepeating()}.
	 */
	public void startRepeating() {
		this.repeater.obtain().start();
	}

	/**
	 * Ends the calls that the starter makes of its own: none is made from now on, and the
	 * pending ones are forgotten.
	 */
	public void stopRepeating() {
		this.repeater.obtain().stop();
	}

	/**
	 * Has the jobs run whose last unit was missed, each on its scheduler.
	 * @param provider gives the store, asked for only if there may be such a job;
	 * {@code null} if nobody knows it
	 */
	public void catchUp(Supplier<? extends @Nullable LockProvider> provider) {
		List<SingleRunOperation> candidates = this.operations.caughtUp();
		LockProvider store = (!candidates.isEmpty() && this.settings.get().records()) ? provider.get() : null;
		if (store != null) {
			MissedRuns missed = new MissedRuns(requiredBeanFactory(), this.schedulers.obtain(), this.repeater.obtain(),
					store, this.clock);
			candidates.forEach(missed::catchUp);
		}
	}

	RunRepeater repeater() {
		return this.repeater.obtain();
	}

	@Override
	public void destroy() {
		stopRepeating();
		this.schedulers.obtain().close();
	}

	private ConfigurableListableBeanFactory requiredBeanFactory() {
		Assert.state(this.beanFactory != null, "The post-processor has to be a bean");
		return this.beanFactory;
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		if (bean instanceof AopInfrastructureBean) {
			return bean;
		}
		check(bean, beanName);
		Object result = super.postProcessAfterInitialization(bean, beanName);
		if (result instanceof Advised advised && !advised.isFrozen()) {
			stepBehindAsync(advised);
			adviseFurther(advised, bean, beanName);
		}
		return result;
	}

	private void adviseFurther(Advised proxy, Object bean, String beanName) {
		Class<?> targetClass = AopUtils.getTargetClass(bean);
		Set<Method> methods = this.operations.annotations(targetClass).keySet();
		if (!methods.isEmpty()) {
			Set<Method> recorded = methods.stream()
				.filter((method) -> this.settings.get().records() && this.operations.hasUnits(method, targetClass))
				.collect(Collectors.toSet());
			this.runAdvice.get().addTo(proxy, beanName, targetClass, methods, recorded);
		}
	}

	private void check(Object bean, String beanName) {
		Class<?> targetClass = AopUtils.getTargetClass(bean);
		Map<Method, MethodAnnotations> annotations = this.operations.annotations(targetClass);
		if (annotations.isEmpty() || this.checked.contains(targetClass)) {
			return;
		}
		Interceptability interceptability = interceptability(bean, beanName);
		annotations.forEach((method, found) -> interceptability.check(new Declaration(beanName, targetClass, method),
				found.onMethod()));
		this.operations.load(beanName, targetClass);
		this.checked.add(targetClass);
	}

	private Interceptability interceptability(Object bean, String beanName) {
		if (bean instanceof SpringProxy) {
			return new Interceptability(
					AopUtils.isJdkDynamicProxy(bean) ? List.of(bean.getClass().getInterfaces()) : List.of());
		}
		ProxyFactory proxy = new ProxyFactory();
		proxy.copyFrom(this);
		if (!proxy.isProxyTargetClass() && this.beanFactory != null
				&& AutoProxyUtils.shouldProxyTargetClass(this.beanFactory, beanName)) {
			proxy.setProxyTargetClass(true);
		}
		if (!proxy.isProxyTargetClass()) {
			evaluateProxyInterfaces(bean.getClass(), proxy);
		}
		return new Interceptability(proxy.isProxyTargetClass() ? List.of() : List.of(proxy.getProxiedInterfaces()));
	}

	private void stepBehindAsync(Advised advised) {
		List<Advisor> advisors = Arrays.asList(advised.getAdvisors());
		Advisor own = this.advisor;
		int async = lastAsync(advisors);
		if (own != null && advisors.contains(own) && advisors.indexOf(own) < async) {
			advised.removeAdvisor(own);
			advised.addAdvisor(async, own);
		}
	}

	private static int lastAsync(List<Advisor> advisors) {
		for (int index = advisors.size() - 1; index >= 0; index--) {
			if (advisors.get(index).getAdvice() instanceof AsyncExecutionInterceptor) {
				return index;
			}
		}
		return -1;
	}

}
