/**
 * Tests of what happens to a lease between its grant and its end.
 */
@NullMarked
package io.mutex.engine;

import org.jspecify.annotations.NullMarked;
