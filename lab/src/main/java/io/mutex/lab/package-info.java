/**
 * The laboratory: makes faults happen to real processes and servers, and checks their
 * histories.
 */
@NullMarked
package io.mutex.lab;

import org.jspecify.annotations.NullMarked;
