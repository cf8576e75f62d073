/**
 * What one instance knows of single runs: how its calls ended, the last successes it has
 * heard of, what is overdue, and what is held for long.
 */
@NullMarked
package io.mutex.status;

import org.jspecify.annotations.NullMarked;
