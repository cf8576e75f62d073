/**
 * Tests of the store decisions.
 */
@NullMarked
package io.mutex.protocol;

import org.jspecify.annotations.NullMarked;
