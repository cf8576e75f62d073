/**
 * Health.
 */
@NullMarked
package io.mutex.health;

import org.jspecify.annotations.NullMarked;
