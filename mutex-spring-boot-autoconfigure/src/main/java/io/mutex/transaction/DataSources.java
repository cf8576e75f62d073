package io.mutex.transaction;

import java.beans.PropertyDescriptor;
import java.lang.reflect.Method;
import java.sql.SQLException;
import java.util.Map;

import javax.sql.DataSource;

import io.mutex.fence.GuardedDataSource;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.BeanUtils;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ReflectionUtils;

/**
 * Data sources behind the proxies that Spring puts before them.
 */
final class DataSources {

	private DataSources() {
	}

	/**
	 * The connection of the current transaction.
	 * @param dataSource the data source, or a proxy of it
	 * @return the connection that this thread's transaction has of it, or {@code null}
	 */
	static @Nullable ConnectionHolder current(DataSource dataSource) {
		Object direct = TransactionSynchronizationManager.getResource(dataSource);
		if (direct instanceof ConnectionHolder holder) {
			return holder;
		}
		for (Map.Entry<Object, Object> resource : TransactionSynchronizationManager.getResourceMap().entrySet()) {
			if (resource.getKey() instanceof DataSource other && resource.getValue() instanceof ConnectionHolder holder
					&& isSame(other, dataSource)) {
				return holder;
			}
		}
		return null;
	}

	/**
	 * The data source of a transaction manager. Those of JDBC, JPA and Hibernate have
	 * one, and have no type in common.
	 * @param manager the transaction manager
	 * @return the data source, or {@code null} if it has none
	 */
	static @Nullable DataSource of(TransactionManager manager) {
		PropertyDescriptor property = BeanUtils.getPropertyDescriptor(manager.getClass(), "dataSource");
		Method getter = (property != null) ? property.getReadMethod() : null;
		if (getter == null) {
			return null;
		}
		ReflectionUtils.makeAccessible(getter); // the class may be anything
		return (ReflectionUtils.invokeMethod(getter, manager) instanceof DataSource dataSource) ? dataSource : null;
	}

	// a connection may also be bound that commits each statement by itself
	static boolean isTransactional(ConnectionHolder holder) {
		try {
			return !holder.getConnection().getAutoCommit();
		}
		catch (SQLException ex) {
			return false;
		}
	}

	static boolean isSame(DataSource one, DataSource other) {
		return target(one).equals(target(other));
	}

	private static DataSource target(DataSource dataSource) {
		DataSource target = dataSource;
		while (true) {
			if (target instanceof GuardedDataSource guarded) {
				target = guarded.unguarded().get();
			}
			else if (target instanceof DelegatingDataSource proxy && proxy.getTargetDataSource() != null) {
				target = proxy.getTargetDataSource();
			}
			else {
				return target;
			}
		}
	}

}
