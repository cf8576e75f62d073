/**
 * The sample with the servers that it needs.
 */
@NullMarked
package io.mutex.sample;

import org.jspecify.annotations.NullMarked;
