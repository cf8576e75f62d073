/**
 * Locks in Redis or Valkey, through the connection factory of Spring Data Redis.
 */
@NullMarked
package io.mutex.redis;

import org.jspecify.annotations.NullMarked;
