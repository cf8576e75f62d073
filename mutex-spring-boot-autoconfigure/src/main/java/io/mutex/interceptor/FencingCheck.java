package io.mutex.interceptor;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

import io.mutex.FencingToken;
import io.mutex.Lease;
import io.mutex.annotation.Fencing;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says of each fenced method who checks its token, and refuses one whose token nobody
 * checks. Which guards there are is known once the application starts.
 */
final class FencingCheck {

	private static final Logger logger = LoggerFactory.getLogger(FencingCheck.class);

	// asking for the guards may create beans, and so wait
	private final ReentrantLock lock = new ReentrantLock();

	private final List<FencedOperation> unchecked = new ArrayList<>();

	private @Nullable Supplier<? extends @Nullable List<String>> guards;

	void add(FencedOperation operation) {
		this.lock.lock();
		try {
			this.unchecked.add(operation);
			check();
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Checks the methods so far, and from now on each when its bean is created.
	 * @param guards gives the names of the guards, or {@code null} if that is not for us
	 * to say; asked for only if there is a fenced method
	 * @throws MutexConfigurationException if nobody checks the token of a method
	 */
	void start(Supplier<? extends @Nullable List<String>> guards) {
		this.lock.lock();
		try {
			this.guards = guards;
			check();
		}
		finally {
			this.lock.unlock();
		}
	}

	private void check() {
		List<String> names = (this.guards != null && !this.unchecked.isEmpty()) ? this.guards.get() : null;
		if (names != null) {
			List<FencedOperation> operations = List.copyOf(this.unchecked);
			this.unchecked.clear();
			operations.forEach((operation) -> check(operation, names));
		}
	}

	private static void check(FencedOperation operation, List<String> guards) {
		Declaration declaration = operation.declaration();
		if (operation.fencing() == Fencing.NONE) {
			logger.info("Token of {}: checked by nobody, as declared", declaration);
		}
		else if (!guards.isEmpty()) {
			logger.info("Token of {}: checked by {}", declaration, String.join(", ", guards));
		}
		else if (takesToken(declaration)) {
			logger.info("Token of {}: checked by no guard; its own statements have to", declaration);
		}
		else {
			throw declaration.refuse(
					"nobody checks its fencing token, so a paused worker could overwrite the work of its successor",
					"Set mutex.fenced.jdbc.enabled=true to have transactions of the DataSource checked, or "
							+ "mutex.fenced.redis.enabled=true to write through FencedRedisOperations; or take a "
							+ "FencingToken or Lease parameter and check it where the data lies; or say "
							+ "fencing = Fencing.NONE");
		}
	}

	private static boolean takesToken(Declaration declaration) {
		return Arrays.stream(declaration.method().getParameterTypes())
			.anyMatch((type) -> type == FencingToken.class || type == Lease.class);
	}

}
