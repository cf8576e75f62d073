/**
 * The memory provider under the contract.
 */
@NullMarked
package io.mutex.memory;

import org.jspecify.annotations.NullMarked;
