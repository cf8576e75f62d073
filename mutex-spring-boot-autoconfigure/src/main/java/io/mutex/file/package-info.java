/**
 * Locks of the processes of one host, in files of a directory that they share.
 */
@NullMarked
package io.mutex.file;

import org.jspecify.annotations.NullMarked;
