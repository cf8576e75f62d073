/**
 * How annotated methods become calls of {@link io.mutex.MutexTemplate}.
 */
@NullMarked
package io.mutex.interceptor;

import org.jspecify.annotations.NullMarked;
