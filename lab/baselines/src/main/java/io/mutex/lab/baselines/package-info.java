/**
 * Other libraries in the field of the laboratory.
 */
@NullMarked
package io.mutex.lab.baselines;

import org.jspecify.annotations.NullMarked;
