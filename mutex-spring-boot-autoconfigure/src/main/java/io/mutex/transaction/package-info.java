/**
 * The run record inside the application's own transaction.
 */
@NullMarked
package io.mutex.transaction;

import org.jspecify.annotations.NullMarked;
