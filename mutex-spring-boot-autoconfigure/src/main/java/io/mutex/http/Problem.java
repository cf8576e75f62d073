package io.mutex.http;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

import io.mutex.StaleFencingTokenException;

/**
 * Why a request is refused, as the problem document that answers it.
 *
 * @param status the status of the answer
 * @param kind what kind of problem it is: the end of its type
 * @param title the kind in words
 * @param detail what is wrong with this request
 * @param members what else a program can read
 * @param retry whether the same request may be accepted a second later
 * @see <a href="https://www.rfc-editor.org/rfc/rfc9457.html">RFC 9457</a>
 */
record Problem(int status, String kind, String title, String detail, Map<String, Object> members, boolean retry) {

	static final String MEDIA_TYPE = "application/problem+json";

	static Problem of(int status, String kind, String title, String detail) {
		return new Problem(status, kind, title, detail, Map.of(), false);
	}

	static Problem passing(int status, String kind, String title, String detail) {
		return new Problem(status, kind, title, detail, Map.of(), true);
	}

	static Problem stale(StaleFencingTokenException refusal) {
		Map<String, Object> members = new LinkedHashMap<>();
		members.put("resource", refusal.getResource());
		members.put("token", refusal.getToken().value());
		members.put("accepted", refusal.getAccepted().value());
		return new Problem(409, "stale-fencing-token", "The fencing token is stale",
				"A later holder has been accepted; nothing of this request may take effect", members, false);
	}

	byte[] json() {
		Map<String, Object> all = new LinkedHashMap<>();
		all.put("type", "urn:mutex:problem:" + this.kind);
		all.put("title", this.title);
		all.put("status", this.status);
		all.put("detail", this.detail);
		all.putAll(this.members);
		StringBuilder json = new StringBuilder();
		all.forEach((name, value) -> {
			quote(json.append(json.isEmpty() ? '{' : ','), name).append(':');
			if (value instanceof Number) {
				json.append(value);
			}
			else {
				quote(json, value.toString());
			}
		});
		return json.append('}').toString().getBytes(StandardCharsets.UTF_8);
	}

	private static StringBuilder quote(StringBuilder json, String text) {
		json.append('"');
		for (int i = 0; i < text.length(); i++) {
			char c = text.charAt(i);
			if (c == '"' || c == '\\') {
				json.append('\\').append(c);
			}
			else if (c < ' ' || Character.isSurrogate(c)) {
				json.append(String.format("\\u%04x", (int) c));
			}
			else {
				json.append(c);
			}
		}
		return json.append('"');
	}

}
