/**
 * Tests of the package.
 */
@NullMarked
package io.mutex.actuate.endpoint;

import org.jspecify.annotations.NullMarked;
