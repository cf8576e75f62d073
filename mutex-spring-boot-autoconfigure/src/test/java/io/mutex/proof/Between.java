package io.mutex.proof;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.concurrent.Callable;

import io.mutex.LockProvider;
import org.jspecify.annotations.Nullable;

/**
 * What a test does between an engine and its store.
 */
@FunctionalInterface
interface Between {

	/**
	 * Stands around one operation.
	 * @param operation the name of the operation
	 * @param store asks the store
	 * @return the answer
	 * @throws Exception if the operation fails
	 */
	@Nullable Object around(String operation, Callable<@Nullable Object> store) throws Exception;

	/**
	 * Puts something between.
	 * @param store the store
	 * @param between what is put before it
	 * @return the store as the engine sees it
	 */
	static LockProvider on(LockProvider store, Between between) {
		return (LockProvider) Proxy.newProxyInstance(LockProvider.class.getClassLoader(),
				new Class<?>[] { LockProvider.class },
				(proxy, method, arguments) -> between.around(method.getName(), () -> {
					try {
						return method.invoke(store, arguments);
					}
					catch (InvocationTargetException ex) {
						throw (Exception) ex.getCause();
					}
				}));
	}

}
