/**
 * The Redis provider on real servers.
 */
@NullMarked
package io.mutex.redis;

import org.jspecify.annotations.NullMarked;
