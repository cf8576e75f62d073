/**
 * Metrics and observations.
 */
@NullMarked
package io.mutex.metrics;

import org.jspecify.annotations.NullMarked;
