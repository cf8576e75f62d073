/**
 * What one instance knows of single runs.
 */
@NullMarked
package io.mutex.status;

import org.jspecify.annotations.NullMarked;
