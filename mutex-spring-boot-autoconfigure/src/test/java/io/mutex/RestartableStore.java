package io.mutex;

/**
 * A store of its own that a test may restart.
 */
public interface RestartableStore extends AutoCloseable {

	/**
	 * Opens a provider on the store as it runs now.
	 * @param namespace the namespace
	 * @return the provider
	 * @throws Exception if it cannot be opened
	 */
	LockProvider open(String namespace) throws Exception;

	/**
	 * Stops the store and starts it again on the same data.
	 * @throws Exception if that fails
	 */
	void restart() throws Exception;

	@Override
	default void close() throws Exception {
	}

}
