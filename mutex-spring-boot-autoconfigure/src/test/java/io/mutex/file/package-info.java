/**
 * Tests of locks in files, most of them with several processes.
 */
@NullMarked
package io.mutex.file;

import org.jspecify.annotations.NullMarked;
