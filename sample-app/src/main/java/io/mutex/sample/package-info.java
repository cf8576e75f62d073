/**
 * An application as a user would write it.
 */
@NullMarked
package io.mutex.sample;

import org.jspecify.annotations.NullMarked;
