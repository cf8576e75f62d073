/**
 * Tests of units and owners.
 */
@NullMarked
package io.mutex.run;

import org.jspecify.annotations.NullMarked;
