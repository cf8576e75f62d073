/**
 * A model of the lock protocol, of which every state is looked at: the store's own
 * decisions, a guard, and workers that pause, die and hear of nothing.
 */
@NullMarked
package io.mutex.model;

import org.jspecify.annotations.NullMarked;
