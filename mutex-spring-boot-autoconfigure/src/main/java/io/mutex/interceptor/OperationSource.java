package io.mutex.interceptor;

import java.lang.reflect.Method;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.util.function.SingletonSupplier;

/**
 * The operations of all annotated methods; also the pointcut that finds them.
 */
final class OperationSource extends StaticMethodMatcherPointcut {

	private final Supplier<OperationFactory> factory;

	private final Map<Class<?>, Map<Method, MethodAnnotations>> annotations = new ConcurrentHashMap<>();

	private final Map<Class<?>, Map<Method, MethodOperations>> operations = new ConcurrentHashMap<>();

	private final DeclaredKeys keys = new DeclaredKeys();

	OperationSource(Supplier<OperationFactory> factory) {
		this.factory = SingletonSupplier.of(factory);
	}

	/**
	 * The annotated methods of a class.
	 * @param targetClass the class of a bean
	 * @return the methods with their annotations
	 */
	Map<Method, MethodAnnotations> annotations(Class<?> targetClass) {
		return this.annotations.computeIfAbsent(targetClass, MethodAnnotations::find);
	}

	@Override
	public boolean matches(Method method, Class<?> targetClass) {
		Map<Method, MethodAnnotations> found = annotations(targetClass);
		return !found.isEmpty() && found.containsKey(AopUtils.getMostSpecificMethod(method, targetClass));
	}

	/**
	 * Creates the operations of a class, if that has not been done yet.
	 * @param beanName the name of a bean of this class
	 * @param targetClass the class
	 * @throws MutexConfigurationException if one of its methods cannot be protected as
	 * declared
	 */
	void load(String beanName, Class<?> targetClass) {
		if (this.operations.containsKey(targetClass)) {
			return;
		}
		Map<Method, MethodOperations> loaded = new ConcurrentHashMap<>();
		annotations(targetClass).forEach((method, found) -> {
			MethodOperations created = this.factory.get().create(new Declaration(beanName, targetClass, method), found);
			this.keys.add(created);
			loaded.put(method, created);
		});
		this.operations.putIfAbsent(targetClass, loaded);
	}

	/**
	 * The single runs that have been found so far.
	 * @param records whether successes are recorded at all
	 * @return the single runs, by key
	 */
	List<DeclaredRun> declaredRuns(boolean records) {
		return singleRuns().map((operation) -> operation.toDeclaredRun(records))
			.sorted(Comparator.comparing(DeclaredRun::name).thenComparing(DeclaredRun::method))
			.toList();
	}

	/**
	 * The method of a single run.
	 * @param run the single run
	 * @return the method, or empty if it is not known any more
	 */
	Optional<Declaration> declaration(DeclaredRun run) {
		return singleRuns().map(SingleRunOperation::declaration)
			.filter((declaration) -> declaration.beanName().equals(run.beanName())
					&& declaration.toString().equals(run.method()))
			.findAny();
	}

	private Stream<SingleRunOperation> singleRuns() {
		return this.operations.values()
			.stream()
			.flatMap((methods) -> methods.values().stream())
			.map(MethodOperations::singleRun)
			.filter(Objects::nonNull);
	}

	boolean hasUnits(Method method, Class<?> targetClass) {
		MethodOperations found = get(method, targetClass);
		return found != null && found.singleRun() != null && found.singleRun().hasUnits();
	}

	/**
	 * The single runs that are caught up at start-up.
	 * @return the single runs, in no order
	 */
	List<SingleRunOperation> caughtUp() {
		return this.operations.values()
			.stream()
			.flatMap((methods) -> methods.values().stream())
			.map(MethodOperations::singleRun)
			.filter(Objects::nonNull)
			.filter((operation) -> operation.repeats().catchUp())
			.toList();
	}

	/**
	 * The operations of a method.
	 * @param method the method that is called, possibly of an interface
	 * @param targetClass the class of the bean
	 * @return the operations, or {@code null} if it has none
	 */
	@Nullable MethodOperations get(Method method, Class<?> targetClass) {
		Map<Method, MethodOperations> loaded = this.operations.get(targetClass);
		if (loaded == null) {
			load("unknown", targetClass);
			return get(method, targetClass);
		}
		MethodOperations direct = loaded.get(method);
		return (direct != null) ? direct : loaded.get(AopUtils.getMostSpecificMethod(method, targetClass));
	}

}
