/**
 * Locks in the tables of a relational database.
 */
@NullMarked
package io.mutex.jdbc;

import org.jspecify.annotations.NullMarked;
