/**
 * Proofs over whole processes: instances of an application that leave at the same moment,
 * die at every step of a run, and lose their store.
 */
@NullMarked
package io.mutex.proof;

import org.jspecify.annotations.NullMarked;
