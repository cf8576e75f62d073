package io.mutex.lab;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The page about reliability, docs/reliability.md. Each command of the laboratory writes
 * its own section between two marks and leaves the rest as it is.
 */
public final class Page {

	private static final Path FILE = Path.of("docs", "reliability.md");

	private Page() {
	}

	/**
	 * Replaces one section.
	 * @param section the name in its marks
	 * @param text the text, in Markdown
	 */
	public static void write(String section, String text) {
		try {
			Files.writeString(FILE, replace(Files.readString(FILE), section, text));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	static String replace(String page, String section, String text) {
		String begin = "<!-- begin " + section + " -->\n";
		String end = "<!-- end " + section + " -->";
		int from = page.indexOf(begin);
		int to = page.indexOf(end);
		if (from < 0 || to < from) {
			throw new IllegalStateException(
					FILE + " has no section '" + section + "' between '" + begin.strip() + "' and '" + end + "'");
		}
		return page.substring(0, from + begin.length()) + "\n" + text.strip() + "\n\n" + page.substring(to);
	}

}
