package io.mutex;

import java.util.List;

/**
 * Opens a provider on the store under test from another JVM. Has a public constructor
 * without parameters.
 */
public interface ProviderFactory {

	/**
	 * Opens a provider.
	 * @param namespace the namespace
	 * @param arguments what the test class has passed, such as an address or a directory
	 * @return the provider
	 * @throws Exception if it cannot be opened
	 */
	LockProvider create(String namespace, List<String> arguments) throws Exception;

	/**
	 * What a child JVM needs to open a provider on the same store.
	 *
	 * @param factory the factory
	 * @param arguments what it is called with
	 */
	record Spec(Class<? extends ProviderFactory> factory, List<String> arguments) {

		public static Spec of(Class<? extends ProviderFactory> factory, String... arguments) {
			return new Spec(factory, List.of(arguments));
		}

	}

}
