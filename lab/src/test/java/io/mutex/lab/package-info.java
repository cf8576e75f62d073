/**
 * Tests of the laboratory itself.
 */
@NullMarked
package io.mutex.lab;

import org.jspecify.annotations.NullMarked;
