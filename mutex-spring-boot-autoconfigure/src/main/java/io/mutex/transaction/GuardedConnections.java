package io.mutex.transaction;

import java.sql.Connection;
import java.util.List;
import java.util.function.Supplier;

import javax.sql.DataSource;

import io.mutex.Lease;
import io.mutex.Leases;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * Wraps the connections of a data source that a protected call obtains, unless it is a
 * transaction of Spring that does. Outside of protected calls, it only looks whether
 * there is one.
 */
final class GuardedConnections implements MethodInterceptor {

	/** The data source on which this thread begins a transaction. */
	private static final ThreadLocal<@Nullable DataSource> BEGINNING = new ThreadLocal<>();

	private final DataSource dataSource;

	private final FenceCheck check;

	GuardedConnections(DataSource dataSource, FenceCheck check) {
		this.dataSource = dataSource;
		this.check = check;
	}

	/**
	 * Lets the next connection go to a transaction that the {@link CommitListener} sees.
	 * @param dataSource the data source
	 */
	static void beginning(DataSource dataSource) {
		BEGINNING.set(dataSource);
	}

	static void begun() {
		BEGINNING.remove();
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		if (invocation.getMethod().getName().equals("unguarded")) {
			Supplier<DataSource> unguarded = () -> this.dataSource;
			return unguarded;
		}
		Object result = invocation.proceed();
		return (result instanceof Connection connection && Leases.current().isPresent()) ? guarded(connection) : result;
	}

	private Connection guarded(Connection connection) {
		DataSource beginning = BEGINNING.get();
		if (beginning != null && DataSources.isSame(beginning, this.dataSource)) {
			BEGINNING.remove();
			return connection;
		}
		List<Lease> leases = Leases.all();
		return (FenceCheck.fenced(leases).isEmpty() || !this.check.isGuarded(this.dataSource)) ? connection
				: GuardedConnection.of(connection, this.dataSource, this.check, leases);
	}

}
