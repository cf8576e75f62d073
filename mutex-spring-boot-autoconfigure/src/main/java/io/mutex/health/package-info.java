/**
 * Health of the lock store.
 */
@NullMarked
package io.mutex.health;

import org.jspecify.annotations.NullMarked;
