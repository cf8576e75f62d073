package io.mutex;

import org.jspecify.annotations.Nullable;

/**
 * The answer of a store to {@link LockProvider#purge}.
 *
 * @param removed how many runs and keys this batch has removed
 * @param next where the next batch begins, or {@code null} if there is none
 */
public record Purged(int removed, @Nullable String next) {

}
