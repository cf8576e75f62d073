/**
 * The JDBC provider under the contract, on real databases.
 */
@NullMarked
package io.mutex.jdbc;

import org.jspecify.annotations.NullMarked;
