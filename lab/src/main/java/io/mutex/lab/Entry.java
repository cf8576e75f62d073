package io.mutex.lab;

import java.util.List;
import java.util.stream.Collectors;

/**
 * One entry of the log that guarded data carries, written with the data.
 *
 * @param key whose data it is
 * @param number the number that was read, plus one
 * @param token the token of the grant that wrote it
 * @param nonce the nonce of that grant
 */
public record Entry(String key, long number, long token, String nonce) {

	static List<Entry> parse(String key, String text) {
		return text.lines().map((line) -> {
			String[] words = line.split(" ", -1);
			return new Entry(key, Long.parseLong(words[0]), Long.parseLong(words[1]), words[2]);
		}).toList();
	}

	/**
	 * What a log held before a number was written.
	 * @param number the number
	 * @param text the log as it is now
	 * @return its beginning
	 */
	static String before(long number, String text) {
		return text.lines().limit(number - 1).map((line) -> line + "\n").collect(Collectors.joining());
	}

	/**
	 * What names the write over all processes.
	 * @return the name
	 */
	String written() {
		return this.key + " " + this.number + " " + this.nonce;
	}

	public String format() {
		return this.number + " " + this.token + " " + this.nonce + "\n";
	}

}
