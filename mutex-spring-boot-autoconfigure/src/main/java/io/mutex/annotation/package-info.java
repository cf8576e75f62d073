/**
 * The annotations of a user's methods.
 */
@NullMarked
package io.mutex.annotation;

import org.jspecify.annotations.NullMarked;
