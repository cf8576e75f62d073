/**
 * Real servers and child JVMs for the tests, without containers.
 */
@NullMarked
package io.mutex.testing;

import org.jspecify.annotations.NullMarked;
