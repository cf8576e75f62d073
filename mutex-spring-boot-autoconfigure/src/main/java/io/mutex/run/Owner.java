package io.mutex.run;

import java.util.regex.Pattern;

/**
 * Who holds a lock or ran a unit: information for people, never a proof of ownership.
 *
 * @param instance the name of the application instance
 * @param host the host name, or {@code unknown}
 * @param pid the process id
 * @param thread the name of the thread that asked
 */
public record Owner(String instance, String host, long pid, String thread) {

	private static final int MAX_PART = 90;

	private static final Pattern UNFIT = Pattern.compile("[|\\p{Cntrl}]");

	private static final String SEPARATOR = "|";

	public Owner {
		instance = clean(instance);
		host = clean(host);
		thread = clean(thread);
	}

	/**
	 * The single line that providers store, at most 300 characters.
	 * @return the four parts, separated
	 */
	public String toText() {
		return String.join(SEPARATOR, this.instance, this.host, Long.toString(this.pid), this.thread);
	}

	/**
	 * Reads what {@link #toText()} wrote. Text of another form, as a later version may
	 * write, is kept as the instance.
	 * @param text the stored line
	 * @return the owner
	 */
	public static Owner parse(String text) {
		String[] parts = text.split("\\|", 5);
		if (parts.length >= 4 && parts[2].matches("\\d{1,18}")) {
			return new Owner(parts[0], parts[1], Long.parseLong(parts[2]), parts[3]);
		}
		return new Owner(text, "unknown", 0, "unknown");
	}

	private static String clean(String part) {
		String cleaned = UNFIT.matcher(part).replaceAll("_");
		return (cleaned.length() <= MAX_PART) ? cleaned : cleaned.substring(0, MAX_PART);
	}

}
