/**
 * What happens to a lease between its grant and its end, once for every provider: asking,
 * waiting, renewing, losing, settling and draining.
 */
@NullMarked
package io.mutex.engine;

import org.jspecify.annotations.NullMarked;
