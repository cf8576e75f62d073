/**
 * Endpoints that show the locks held.
 */
@NullMarked
package io.mutex.actuate.endpoint;

import org.jspecify.annotations.NullMarked;
