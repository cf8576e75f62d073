/**
 * Fencing tokens and idempotency keys over HTTP: clients that send them, and filters that
 * check them on the other side.
 */
@NullMarked
package io.mutex.http;

import org.jspecify.annotations.NullMarked;
