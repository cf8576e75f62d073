/**
 * The contract that every lock provider keeps, as tests.
 */
@NullMarked
package io.mutex;

import org.jspecify.annotations.NullMarked;
