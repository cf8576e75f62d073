package io.mutex.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A page that shows what concerns a violation: a lane for each process, from left to
 * right as time goes by, and below it the same as text. It needs no other file and no
 * script.
 */
final class Timeline {

	private static final String PAGE = """
			<!DOCTYPE html>
			<html lang="en">
			<head>
			<meta charset="utf-8">
			<title>@@title@@</title>
			<style>
			body { font: 14px/1.5 system-ui, sans-serif; margin: 24px; color: #1c2733; background: #fff; }
			h1 { font-size: 20px; margin: 0 0 4px; }
			.drawing { overflow-x: auto; border: 1px solid #d5dce3; border-radius: 6px; margin: 16px 0; }
			.legend span { display: inline-block; margin-right: 18px; }
			.legend i { display: inline-block; width: 22px; height: 12px; margin-right: 6px; vertical-align: -1px; }
			pre { font-size: 12px; line-height: 1.45; overflow-x: auto; background: #f5f7f9; padding: 12px; }
			svg text { font: 12px system-ui, sans-serif; fill: #1c2733; }
			svg .small { font-size: 11px; fill: #5b6875; }
			svg .token { fill: #fff; font-weight: 600; }
			svg .process { font-weight: 600; }
			svg .lane { stroke: #e3e8ed; }
			svg .tick { stroke: #edf0f3; }
			svg .asks { stroke: #8a97a4; stroke-width: 2; }
			svg .body, .legend .body { fill: #9dc1e8; background: #9dc1e8; }
			svg .valid, .legend .valid { fill: #2f6fb3; background: #2f6fb3; }
			svg .fault, .legend .fault { fill: #f2c14e; fill-opacity: .28; background: #fbeecb; }
			svg .violation, .legend .violation { fill: #d62839; fill-opacity: .22; stroke: #d62839; background: #f3bcc2; }
			svg .write { fill: #fff; stroke: #1c2733; stroke-width: 1.5; }
			svg .wrote { fill: #4cc38a; stroke: #1c2733; }
			svg .bad { fill: #d62839; stroke: #fff; }
			svg .unknown { fill: #f2c14e; stroke: #1c2733; }
			svg .run { fill: #b48ade; stroke: #1c2733; }
			svg .killed { stroke: #d62839; stroke-width: 3; }
			</style>
			</head>
			<body>
			<h1>@@title@@</h1>
			<div>@@text@@</div>
			<div class="drawing">
			@@drawing@@
			</div>
			<div class="legend">
			<span><i class="valid"></i>the holder knew its lease to be valid</span>
			<span><i class="body"></i>the body ran on</span>
			<span><i class="fault"></i>fault</span>
			<span><i class="violation"></i>violation</span>
			<span>&#9711; write begun, green: accepted, red: refused, yellow: unknown</span>
			<span>grey line: asks for the key</span>
			</div>
			<pre>@@events@@</pre>
			</body>
			</html>
			""";

	private static final Pattern PLACE = Pattern.compile("@@(\\w+)@@");

	private Timeline() {
	}

	/**
	 * Writes the page.
	 * @param directory the directory of the run
	 * @param history what was written down
	 * @param violation what to show
	 * @return the file
	 * @throws IOException if it cannot be written
	 */
	static Path write(Path directory, History history, Violation violation) throws IOException {
		return Files.writeString(directory.resolve("timeline.html"), page(history, violation));
	}

	static String page(History history, Violation violation) {
		String title = violation.invariant() + " was broken for key " + violation.key();
		return PLACE.matcher(PAGE).replaceAll((place) -> Matcher.quoteReplacement(switch (place.group(1)) {
			case "title" -> escape(title);
			case "text" -> escape(violation.text());
			case "drawing" -> new Lanes(history, violation).draw();
			default -> escape(history.timeline(violation));
		}));
	}

	/**
	 * Makes a text what it is on a page.
	 * @param text any text
	 * @return the text without anything that a page would take for itself
	 */
	static String escape(String text) {
		return text.codePoints().mapToObj((character) -> switch (character) {
			case '&' -> "&amp;";
			case '<' -> "&lt;";
			case '>' -> "&gt;";
			case '"' -> "&quot;";
			case '\'' -> "&#39;";
			default -> Character.toString(character);
		}).collect(Collectors.joining());
	}

}
