package io.mutex.autoconfigure;

import java.util.function.Function;

import io.mutex.LockProvider;

/**
 * A kind of store that this application could use.
 */
interface LockProviderFactory {

	/**
	 * The kind of store.
	 * @return the type
	 */
	MutexProviderType type();

	/**
	 * Creates the provider, without asking the store anything.
	 * @param namespace the namespace of the locks
	 * @return the provider
	 */
	LockProvider create(String namespace);

	/**
	 * Whether the store lives in the memory of this process and protects nothing beyond.
	 * May ask the store.
	 * @return {@code false} by default
	 */
	default boolean isInMemory() {
		return false;
	}

	static LockProviderFactory of(MutexProviderType type, Function<String, LockProvider> creation) {
		return new LockProviderFactory() {

			@Override
			public MutexProviderType type() {
				return type;
			}

			@Override
			public LockProvider create(String namespace) {
				return creation.apply(namespace);
			}

		};
	}

}
