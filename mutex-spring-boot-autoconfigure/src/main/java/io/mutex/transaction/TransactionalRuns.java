package io.mutex.transaction;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;

import io.mutex.Lease;
import io.mutex.LeaseCallback;
import io.mutex.Leases;
import io.mutex.LockRequest;
import io.mutex.MutexTemplate;
import io.mutex.RunResult;
import io.mutex.engine.LockEngine;
import io.mutex.engine.RunSurroundings;
import io.mutex.interceptor.RunAdvice;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.transaction.interceptor.TransactionAttributeSource;
import org.springframework.transaction.interceptor.TransactionInterceptor;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Lets protected calls take part in transactions: single runs of transactional methods
 * record their success inside the transaction, and what is called inside a transaction
 * keeps its lease until that one ends.
 */
public final class TransactionalRuns implements RunAdvice, RunSurroundings {

	/** Set while the call of an annotated method is on its way to the engine. */
	private static final ThreadLocal<@Nullable Boolean> ADVISED = new ThreadLocal<>();

	private final Supplier<@Nullable LockEngine> engine;

	private final TransactionEdge edge;

	private final JoinedTransactions joined;

	private final Map<Class<?>, TransactionAttributeSource> attributes = new ConcurrentHashMap<>();

	private final List<RunMethod> methods = new CopyOnWriteArrayList<>();

	/**
	 * Creates the advice.
	 * @param engine gives the engine, or {@code null} if the application does without,
	 * asked for at each call
	 * @param check confirms leases
	 */
	public TransactionalRuns(Supplier<@Nullable LockEngine> engine, FenceCheck check) {
		this.engine = engine;
		this.edge = new TransactionEdge(engine, check);
		this.joined = new JoinedTransactions(check);
	}

	List<RunMethod> methods() {
		return this.methods;
	}

	@Override
	public void addTo(Advised proxy, String beanName, Class<?> targetClass, Set<Method> methods, Set<Method> recorded) {
		int position = transactionAdvice(proxy.getAdvisors());
		if (position >= 0 && proxy.getAdvisors()[position].getAdvice() instanceof TransactionInterceptor advice) {
			TransactionAttributeSource source = advice.getTransactionAttributeSource();
			if (source != null) {
				this.attributes.put(targetClass, source);
			}
			proxy.addAdvisor(position + 1, new DefaultPointcutAdvisor(new ProtectedMethods(methods), this.edge));
		}
		for (Method method : methods) {
			this.methods.add(new RunMethod(beanName, targetClass, method, recorded.contains(method),
					attribute(method, targetClass)));
		}
	}

	private @Nullable TransactionAttribute attribute(Method method, Class<?> targetClass) {
		TransactionAttributeSource source = this.attributes.get(targetClass);
		return (source != null) ? source.getTransactionAttribute(method, targetClass) : null;
	}

	private static int transactionAdvice(Advisor[] advisors) {
		for (int index = advisors.length - 1; index >= 0; index--) {
			if (advisors[index].getAdvice() instanceof TransactionInterceptor) {
				return index;
			}
		}
		return -1;
	}

	@Override
	public RunResult<@Nullable Object> run(MethodInvocation invocation, LockRequest request,
			LeaseCallback<@Nullable Object, Throwable> body, MutexTemplate template) throws Throwable {
		LockEngine engine = this.engine.get();
		if (engine == null) {
			return template.singleRun(request, body);
		}
		boolean joins = joins(invocation, true);
		Lease held = Leases.find(request.key()).orElse(null);
		if (held != null) {
			return advised(template, request, this.joined.again(engine, held, joins, body));
		}
		LeaseCallback<@Nullable Object, Throwable> exposed = (lease) -> {
			RunLease.set(invocation, lease);
			return body.run(lease);
		};
		return joins
				? advised(template, this.joined.conditional(engine, request),
						this.joined.first(engine, request, exposed))
				: advised(template, request, alone(invocation, request, exposed));
	}

	@Override
	public @Nullable Object execute(MethodInvocation invocation, LockRequest request,
			LeaseCallback<@Nullable Object, Throwable> body, MutexTemplate template) throws Throwable {
		LockEngine engine = this.engine.get();
		LeaseCallback<@Nullable Object, Throwable> work = body;
		if (engine != null) {
			work = joins(invocation, false) ? this.joined.held(engine, request, body)
					: alone(invocation, request, body);
		}
		ADVISED.set(true);
		try {
			return template.execute(request, work);
		}
		finally {
			ADVISED.remove();
		}
	}

	private LeaseCallback<@Nullable Object, Throwable> alone(MethodInvocation invocation, LockRequest request,
			LeaseCallback<@Nullable Object, Throwable> body) {
		return (!isInTransaction() && takesPart(invocation)) ? this.joined.alone(request, body) : body;
	}

	private static RunResult<@Nullable Object> advised(MutexTemplate template, LockRequest request,
			LeaseCallback<@Nullable Object, Throwable> body) throws Throwable {
		ADVISED.set(true);
		try {
			return template.singleRun(request, body);
		}
		finally {
			ADVISED.remove();
		}
	}

	@Override
	public LockRequest request(LockEngine engine, LockRequest request) {
		return (ADVISED.get() == null && isInTransaction() && Leases.find(request.key()).isEmpty())
				? this.joined.conditional(engine, request) : request;
	}

	@Override
	@SuppressWarnings("unchecked")
	public <T extends @Nullable Object, E extends Throwable> LeaseCallback<T, E> body(LockEngine engine,
			LockRequest request, LeaseCallback<T, E> body) {
		boolean advised = ADVISED.get() != null;
		ADVISED.remove();
		if (advised) {
			return body;
		}
		LeaseCallback<@Nullable Object, Throwable> plain = (LeaseCallback<@Nullable Object, Throwable>) body;
		if (!isInTransaction()) {
			return (LeaseCallback<T, E>) this.joined.alone(request, plain);
		}
		Lease held = Leases.find(request.key()).orElse(null);
		return (LeaseCallback<T, E>) ((held != null) ? this.joined.again(engine, held, true, plain)
				: this.joined.first(engine, request, plain));
	}

	@Override
	@SuppressWarnings("unchecked")
	public <T extends @Nullable Object, E extends Throwable> LeaseCallback<T, E> work(LockEngine engine,
			LockRequest request, LeaseCallback<T, E> body) {
		boolean advised = ADVISED.get() != null;
		ADVISED.remove();
		if (advised) {
			return body;
		}
		LeaseCallback<@Nullable Object, Throwable> plain = (LeaseCallback<@Nullable Object, Throwable>) body;
		return (LeaseCallback<T, E>) (isInTransaction() ? this.joined.held(engine, request, plain)
				: this.joined.alone(request, plain));
	}

	private static boolean isInTransaction() {
		return TransactionSynchronizationManager.isActualTransactionActive()
				&& TransactionSynchronizationManager.isSynchronizationActive();
	}

	private boolean joins(MethodInvocation invocation, boolean recorded) {
		if (!isInTransaction()
				|| (recorded && CompletionStage.class.isAssignableFrom(invocation.getMethod().getReturnType()))) {
			return false;
		}
		return takesPart(invocation);
	}

	private boolean takesPart(MethodInvocation invocation) {
		Object target = invocation.getThis();
		TransactionAttribute attribute = (target != null)
				? attribute(invocation.getMethod(), AopUtils.getTargetClass(target)) : null;
		return attribute == null || switch (attribute.getPropagationBehavior()) {
			case TransactionDefinition.PROPAGATION_REQUIRES_NEW, TransactionDefinition.PROPAGATION_NOT_SUPPORTED,
					TransactionDefinition.PROPAGATION_NEVER ->
				false;
			default -> true;
		};
	}

	/**
	 * The protected methods of a class.
	 */
	private static final class ProtectedMethods extends StaticMethodMatcherPointcut {

		private final Set<Method> methods;

		ProtectedMethods(Set<Method> methods) {
			this.methods = Set.copyOf(methods);
		}

		@Override
		public boolean matches(Method method, Class<?> targetClass) {
			return this.methods.contains(AopUtils.getMostSpecificMethod(method, targetClass));
		}

		@Override
		public String toString() {
			return "protected methods " + Arrays.toString(this.methods.toArray());
		}

	}

}
