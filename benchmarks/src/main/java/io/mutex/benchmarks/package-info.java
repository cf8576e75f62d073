/**
 * Measurements of the stores beside their peers, in turns and on the same servers.
 */
@NullMarked
package io.mutex.benchmarks;

import org.jspecify.annotations.NullMarked;
