/**
 * Which run of a job a call belongs to, and what is remembered of a run.
 */
@NullMarked
package io.mutex.run;

import org.jspecify.annotations.NullMarked;
