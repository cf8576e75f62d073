/**
 * A small application of somebody else, with the tests that its owner would write.
 */
@NullMarked
package com.example.orders;

import org.jspecify.annotations.NullMarked;
