/**
 * The core: what a lease, a fencing token and a lock provider are. JDK, JSpecify and
 * SLF4J only.
 */
@NullMarked
package io.mutex;

import org.jspecify.annotations.NullMarked;
