package io.mutex.run;

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

	private static final int MAX_DIGITS = 18;

	private static final char SEPARATOR = '|';

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
		return this.instance + SEPARATOR + this.host + SEPARATOR + this.pid + SEPARATOR + this.thread;
	}

	/**
	 * Reads what {@link #toText()} wrote. Text of another form, as a later version may
	 * write, is kept as the instance.
	 * @param text the stored line
	 * @return the owner
	 */
	public static Owner parse(String text) {
		int host = text.indexOf(SEPARATOR) + 1;
		int pid = text.indexOf(SEPARATOR, host) + 1;
		int thread = text.indexOf(SEPARATOR, pid) + 1;
		if (host > 0 && pid > host && thread > pid && isNumber(text, pid, thread - 1)) {
			int end = text.indexOf(SEPARATOR, thread);
			return new Owner(text.substring(0, host - 1), text.substring(host, pid - 1),
					Long.parseLong(text, pid, thread - 1, 10), text.substring(thread, (end < 0) ? text.length() : end));
		}
		return new Owner(text, "unknown", 0, "unknown");
	}

	private static boolean isNumber(String text, int begin, int end) {
		for (int i = begin; i < end; i++) {
			if (text.charAt(i) < '0' || text.charAt(i) > '9') {
				return false;
			}
		}
		return end > begin && end - begin <= MAX_DIGITS;
	}

	// each request has an owner, and hardly ever anything to replace
	private static String clean(String part) {
		String cleaned = part;
		for (int i = 0; i < part.length(); i++) {
			if (isUnfit(part.charAt(i))) {
				cleaned = cleaned.replace(part.charAt(i), '_');
			}
		}
		return (cleaned.length() <= MAX_PART) ? cleaned : cleaned.substring(0, MAX_PART);
	}

	// what separates, and the control characters of ASCII
	private static boolean isUnfit(char character) {
		return character == SEPARATOR || character < ' ' || character == 0x7F;
	}

}
