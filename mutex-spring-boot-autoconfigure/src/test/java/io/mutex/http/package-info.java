/**
 * Tests of fencing tokens and idempotency keys over HTTP.
 */
@NullMarked
package io.mutex.http;

import org.jspecify.annotations.NullMarked;
