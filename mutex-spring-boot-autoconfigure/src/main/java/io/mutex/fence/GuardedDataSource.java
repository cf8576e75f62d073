package io.mutex.fence;

import java.util.function.Supplier;

import javax.sql.DataSource;

/**
 * A data source whose connections are checked where a protected call uses them outside of
 * a transaction of Spring.
 */
public interface GuardedDataSource extends DataSource {

	/**
	 * The data source that gives the connections.
	 * @return gives the data source without the checks; a proxy that returned it directly
	 * would be taken to mean itself
	 */
	Supplier<DataSource> unguarded();

}
