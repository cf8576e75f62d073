package io.mutex.file;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * Lines between a first one that names form and version and a last one with a checksum of
 * the others, so that a torn or foreign file is never taken for content. Each line is a
 * list of fields.
 */
final class SealedText {

	private static final String CHECKSUM = "checksum\t";

	private static final int CHECKSUM_LENGTH = CHECKSUM.length() + 9;

	private final StringBuilder text = new StringBuilder();

	SealedText(String header) {
		this.text.append(header).append('\n');
	}

	SealedText line(String... fields) {
		for (int i = 0; i < fields.length; i++) {
			this.text.append((i > 0) ? "\t" : "");
			escape(fields[i]);
		}
		this.text.append('\n');
		return this;
	}

	byte[] seal() {
		byte[] content = this.text.toString().getBytes(StandardCharsets.UTF_8);
		this.text.append(CHECKSUM).append(checksum(content)).append('\n');
		return this.text.toString().getBytes(StandardCharsets.UTF_8);
	}

	/**
	 * Reads what {@link #seal()} returned.
	 * @param header the first line that is expected
	 * @param sealed the bytes
	 * @return the fields of each line between the first and the last
	 * @throws IOException if the bytes are anything else, with the reason
	 */
	static List<List<String>> open(String header, byte[] sealed) throws IOException {
		int length = sealed.length - CHECKSUM_LENGTH;
		if (length < 0) {
			throw new IOException("it is cut off after " + sealed.length + " bytes");
		}
		byte[] content = Arrays.copyOf(sealed, length);
		String last = new String(sealed, length, CHECKSUM_LENGTH, StandardCharsets.UTF_8);
		if (!last.equals(CHECKSUM + checksum(content) + "\n")) {
			throw new IOException("its checksum does not match its content");
		}
		List<List<String>> lines = new ArrayList<>();
		// the last line break is followed by an empty line, which has no fields to know
		for (String line : new String(content, StandardCharsets.UTF_8).split("\n", -1)) {
			lines.add(Arrays.stream(line.split("\t", -1)).map(SealedText::unescape).toList());
		}
		if (!lines.remove(0).equals(List.of(header))) {
			throw new IOException("it does not begin with '" + header + "': was it written by a later version?");
		}
		return lines;
	}

	private void escape(String field) {
		for (int i = 0; i < field.length(); i++) {
			char c = field.charAt(i);
			if (c < ' ' || c == '\\' || Character.isSurrogate(c)) {
				this.text.append(String.format("\\u%04x", (int) c));
			}
			else {
				this.text.append(c);
			}
		}
	}

	private static String unescape(String field) {
		StringBuilder plain = new StringBuilder(field.length());
		for (int i = 0; i < field.length(); i++) {
			if (field.startsWith("\\u", i) && i + 6 <= field.length()) {
				plain.append((char) Integer.parseInt(field.substring(i + 2, i + 6), 16));
				i += 5;
			}
			else {
				plain.append(field.charAt(i));
			}
		}
		return plain.toString();
	}

	private static String checksum(byte[] content) {
		CRC32C checksum = new CRC32C();
		checksum.update(content);
		return String.format("%08x", checksum.getValue());
	}

}
