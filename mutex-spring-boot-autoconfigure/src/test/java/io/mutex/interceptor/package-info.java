/**
 * Tests of the interception of annotated methods.
 */
@NullMarked
package io.mutex.interceptor;

import org.jspecify.annotations.NullMarked;
