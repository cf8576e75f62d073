/**
 * The decisions of the store operations as pure functions over stored rows, for every
 * provider that decides outside its store.
 */
@NullMarked
package io.mutex.protocol;

import org.jspecify.annotations.NullMarked;
