/**
 * Metrics of leases and single runs.
 */
@NullMarked
package io.mutex.metrics;

import org.jspecify.annotations.NullMarked;
