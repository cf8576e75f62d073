package io.mutex.lab;

/**
 * An invariant that a history breaks.
 *
 * @param invariant its name, {@code I1} to {@code I9}
 * @param key the key
 * @param from where the window begins, in nanoseconds
 * @param to where the window ends, in nanoseconds
 * @param text one sentence
 */
record Violation(String invariant, String key, long from, long to, String text) {
}
