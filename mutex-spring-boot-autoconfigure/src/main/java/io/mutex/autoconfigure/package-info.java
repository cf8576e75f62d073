/**
 * Auto-configuration, the only package that knows all the others.
 */
@NullMarked
package io.mutex.autoconfigure;

import org.jspecify.annotations.NullMarked;
