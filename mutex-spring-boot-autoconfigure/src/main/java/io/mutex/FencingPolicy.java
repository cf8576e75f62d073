package io.mutex;

import org.jspecify.annotations.Nullable;

/**
 * How the storage is to refuse earlier holders of a key.
 *
 * @param resource the resource that the work writes to, or {@code null} for the one named
 * like the key
 * @param mode when earlier holders are refused
 */
public record FencingPolicy(@Nullable String resource, Mode mode) {

	/**
	 * Before the work begins, at the resource named like the key.
	 */
	public static final FencingPolicy STRICT = new FencingPolicy(null, Mode.STRICT);

	/**
	 * Never.
	 */
	public static final FencingPolicy NONE = new FencingPolicy(null, Mode.NONE);

	public FencingPolicy {
		if (resource != null) {
			Keys.requireValid(resource);
		}
	}

	/**
	 * When earlier holders are refused.
	 */
	public enum Mode {

		/** From before the work begins. */
		STRICT,
		/** From the first guarded write. */
		ON_WRITE,
		/** Never. */
		NONE

	}

}
