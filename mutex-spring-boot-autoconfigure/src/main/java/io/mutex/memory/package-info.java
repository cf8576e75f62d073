/**
 * Locks in the memory of one process, for tests.
 */
@NullMarked
package io.mutex.memory;

import org.jspecify.annotations.NullMarked;
