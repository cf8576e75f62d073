package io.mutex.redis;

import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * A connection that is kept for the renewal of leases, so that it waits neither behind
 * what the application does on a shared one nor for one of the application's pool. A pool
 * that has few is left alone.
 */
final class OwnConnection implements AutoCloseable {

	private final RedisConnectionFactory connectionFactory;

	private final ReentrantLock lock = new ReentrantLock();

	private @Nullable RedisConnection kept;

	private boolean closed;

	OwnConnection(RedisConnectionFactory connectionFactory) {
		this.connectionFactory = connectionFactory;
	}

	/**
	 * Does something that may be repeated.
	 * @param <T> the type of the result
	 * @param action what to do; again, with a new connection, if the kept one fails
	 * @return the result
	 */
	<T> T use(Function<RedisConnection, T> action) {
		this.lock.lock();
		try {
			RedisConnection before = this.kept;
			if (before != null) {
				try {
					return action.apply(before);
				}
				catch (RuntimeException ex) {
					// It may have ended while nothing was to be renewed.
					drop();
				}
			}
			RedisConnection fresh = this.connectionFactory.getConnection();
			this.kept = fresh;
			boolean used = false;
			try {
				T result = action.apply(fresh);
				used = true;
				return result;
			}
			finally {
				if (!used || this.closed || !ClientLibraries.keepsUpWithTheMaster(this.connectionFactory)) {
					drop();
				}
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	private void drop() {
		RedisConnection connection = this.kept;
		this.kept = null;
		try {
			if (connection != null) {
				connection.close();
			}
		}
		catch (RuntimeException ex) {
			// What it was used for has an answer, or a failure of its own.
		}
	}

	@Override
	public void close() {
		this.lock.lock();
		try {
			this.closed = true;
			drop();
		}
		finally {
			this.lock.unlock();
		}
	}

}
