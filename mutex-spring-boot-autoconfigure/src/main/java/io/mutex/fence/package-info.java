/**
 * The contract of the guards at a storage, which refuse the work of earlier holders.
 */
@NullMarked
package io.mutex.fence;

import org.jspecify.annotations.NullMarked;
