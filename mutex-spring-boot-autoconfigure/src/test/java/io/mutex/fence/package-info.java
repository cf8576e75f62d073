/**
 * Guards for the tests.
 */
@NullMarked
package io.mutex.fence;

import org.jspecify.annotations.NullMarked;
