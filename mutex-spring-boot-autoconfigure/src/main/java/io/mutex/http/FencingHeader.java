package io.mutex.http;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.mutex.Fence;
import io.mutex.FencingToken;
import io.mutex.Keys;

/**
 * One value of the header {@value #NAME}: {@code <resource>;<token>;<nonce>}. Of the
 * resource, all but letters and digits of ASCII and {@code - . _ ~ : /} is
 * percent-encoded in UTF-8.
 *
 * @param resource the guarded resource
 * @param token the token of the grant
 * @param nonce the nonce of the grant
 */
public record FencingHeader(String resource, FencingToken token, String nonce) {

	/** The name of the header. */
	public static final String NAME = "Fencing-Token";

	/**
	 * The key that every resource of a request belongs to at the guards of the receiver.
	 * The sender's keys are kept in another store, so their tokens cannot be compared
	 * with those of the receiver's own: a resource that one of its own keys writes to is
	 * refused. A resource of this name is refused, too, as it would look like such a key.
	 */
	public static final String KEY = NAME;

	private static final Pattern VALUE = Pattern
		.compile("((?:[A-Za-z0-9._~:/-]|%[0-9A-Fa-f]{2})+);([1-9][0-9]{0,15});([0-9a-f]{32})");

	private static final String PLAIN = "-._~:/";

	private static final int MAX_VALUES = 16;

	/**
	 * The value for a fence.
	 * @param fence the fence
	 * @return its resource, token and nonce
	 */
	public static FencingHeader of(Fence fence) {
		return new FencingHeader(fence.resource(), fence.token(), fence.nonce());
	}

	/**
	 * Reads the header of a request.
	 * @param lines the header as it was sent, in one line or in several
	 * @return its values, empty if there are no lines
	 * @throws IllegalArgumentException if they are anything but values, with the reason
	 */
	public static List<FencingHeader> parse(List<String> lines) {
		List<FencingHeader> values = new ArrayList<>();
		for (String line : lines) {
			for (String value : line.split(",", -1)) {
				FencingHeader parsed = parse(value.strip());
				if (values.stream().anyMatch((other) -> other.resource().equals(parsed.resource()))) {
					throw new IllegalArgumentException("it names a resource twice");
				}
				values.add(parsed);
			}
			if (values.size() > MAX_VALUES) {
				throw new IllegalArgumentException("it names more than " + MAX_VALUES + " resources");
			}
		}
		return values;
	}

	private static FencingHeader parse(String value) {
		Matcher matcher = VALUE.matcher(value);
		if (!matcher.matches()) {
			throw new IllegalArgumentException("it is not <resource>;<token>;<nonce> with a percent-encoded resource, "
					+ "a decimal token and 32 hexadecimal digits");
		}
		String resource = Keys.requireValid(decode(matcher.group(1)));
		if (resource.equals(KEY)) {
			throw new IllegalArgumentException("no resource can have the name '" + KEY + "'");
		}
		return new FencingHeader(resource, new FencingToken(Long.parseLong(matcher.group(2))), matcher.group(3));
	}

	private static String decode(String encoded) {
		ByteBuffer bytes = ByteBuffer.allocate(encoded.length());
		for (int i = 0; i < encoded.length(); i++) {
			if (encoded.charAt(i) == '%') {
				bytes.put((byte) HexFormat.fromHexDigits(encoded, i + 1, i + 3));
				i += 2;
			}
			else {
				bytes.put((byte) encoded.charAt(i));
			}
		}
		try {
			return StandardCharsets.UTF_8.newDecoder().decode(bytes.flip()).toString();
		}
		catch (CharacterCodingException ex) {
			throw new IllegalArgumentException("its resource is not percent-encoded UTF-8", ex);
		}
	}

	/**
	 * What a guard of the receiver is asked with.
	 * @return a strict fence of the key {@value #KEY}
	 */
	public Fence fence() {
		return new Fence(this.resource, KEY, this.token, this.nonce, true);
	}

	/**
	 * The value as it is sent.
	 * @return resource, token and nonce
	 */
	@Override
	public String toString() {
		StringBuilder text = new StringBuilder();
		for (byte b : this.resource.getBytes(StandardCharsets.UTF_8)) {
			if ((b >= 'a' && b <= 'z') || (b >= 'A' && b <= 'Z') || (b >= '0' && b <= '9') || PLAIN.indexOf(b) >= 0) {
				text.append((char) b);
			}
			else {
				text.append('%').append(HexFormat.of().withUpperCase().toHexDigits(b));
			}
		}
		return text.append(';').append(this.token).append(';').append(this.nonce).toString();
	}

}
