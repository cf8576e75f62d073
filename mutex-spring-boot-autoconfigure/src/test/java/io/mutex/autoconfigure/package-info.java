/**
 * Tests of the package.
 */
@NullMarked
package io.mutex.autoconfigure;

import org.jspecify.annotations.NullMarked;
