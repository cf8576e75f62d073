package io.mutex.interceptor;

import java.lang.reflect.Method;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The constant keys of an application, to find methods that would keep each other from
 * running by accident. Two beans of one class are no accident, nor is a single run that
 * excludes fenced work, or a writer that excludes readers.
 */
final class DeclaredKeys {

	private final Map<String, SingleRunOperation> singleRuns = new ConcurrentHashMap<>();

	private final Map<String, FencedOperation> fenced = new ConcurrentHashMap<>();

	private final Map<String, FencedOperation> shared = new ConcurrentHashMap<>();

	/**
	 * Adds the operations of a method.
	 * @param operations the operations
	 * @throws MutexConfigurationException if another method has the same key and they
	 * cannot both work
	 */
	void add(MethodOperations operations) {
		SingleRunOperation singleRun = operations.singleRun();
		if (singleRun != null && singleRun.key().isConstant()) {
			SingleRunOperation other = this.singleRuns.putIfAbsent(singleRun.key().text(), singleRun);
			if (other != null && !same(other.declaration(), singleRun.declaration())) {
				check(singleRun, other);
			}
		}
		FencedOperation fencedWork = operations.fenced();
		if (fencedWork != null && fencedWork.key().isConstant()) {
			FencedOperation other = (fencedWork.isShared() ? this.shared : this.fenced)
				.putIfAbsent(fencedWork.key().text(), fencedWork);
			if (other != null && !same(other.declaration(), fencedWork.declaration())
					&& !other.policy().equals(fencedWork.policy())) {
				throw differing(fencedWork.declaration(), fencedWork.key(), fencedWork.policy(), other.declaration(),
						other.policy());
			}
		}
	}

	private static boolean same(Declaration one, Declaration other) {
		Method method = one.method();
		return one.targetClass() == other.targetClass() && method.equals(other.method());
	}

	private static void check(SingleRunOperation operation, SingleRunOperation other) {
		if (operation.hasUnits() && other.hasUnits()) {
			throw operation.declaration()
				.refuse("its key '" + operation.key().text() + "' is also that of " + other.declaration() + " of bean '"
						+ other.declaration().beanName() + "', and whichever runs second would find the work done",
						"Give each of them a key of its own");
		}
		if (!operation.policy().equals(other.policy())) {
			throw differing(operation.declaration(), operation.key(), operation.policy(), other.declaration(),
					other.policy());
		}
	}

	private static MutexConfigurationException differing(Declaration declaration, Template key, String policy,
			Declaration other, String otherPolicy) {
		return declaration.refuse(
				"its key '" + key.text() + "' (" + policy + ") is also that of " + other + " of bean '"
						+ other.beanName() + "' (" + otherPolicy + ")",
				"Give both the same policy, or each a key of its own");
	}

}
