package io.mutex.lab;

import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import javax.xml.parsers.DocumentBuilderFactory;

import io.mutex.lab.Event.Kind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link Timeline}.
 */
class TimelineTests {

	private static final long MILLI = 1_000_000;

	private static final Violation VIOLATION = new Violation("I4", "one", 2000 * MILLI, 2100 * MILLI,
			"w1#1 and w2#1 both held the key");

	private final List<Event> events = new ArrayList<>();

	@Test
	void eachProcessHasALaneWithItsGrants() throws Exception {
		grant("w1", 1, 1500, 2100, 41);
		grant("w2", 1, 2000, 2400, 42);
		grant("w3", 1, 9000, 9100, 43);
		Document drawing = drawing(VIOLATION);
		assertThat(texts(drawing, "process")).containsExactly("w1", "w2");
		assertThat(texts(drawing, "token")).containsExactly("41", "42");
		assertThat(titles(drawing, "valid")).containsExactly("w1#1 token 41 nonce n41", "w2#1 token 42 nonce n42");
	}

	@Test
	void barsLieWhereTheirGrantsWere() throws Exception {
		grant("w1", 1, 1500, 2100, 41);
		grant("w2", 1, 2000, 2400, 42);
		Document drawing = drawing(VIOLATION);
		List<Element> bars = elements(drawing, "rect", "body");
		double first = number(bars.get(0), "x");
		double second = number(bars.get(1), "x");
		double violation = number(elements(drawing, "rect", "violation").get(0), "x");
		assertThat(first).isLessThan(second);
		assertThat(second).isEqualTo(violation);
		assertThat(number(bars.get(0), "width") / number(bars.get(1), "width")).isBetween(1.49, 1.51);
		assertThat(number(bars.get(0), "y")).isLessThan(number(bars.get(1), "y"));
	}

	@Test
	void grantsOfOneProcessThatOverlapLieBelowEachOther() throws Exception {
		grant("w1", 1, 1500, 2100, 41);
		grant("w1", 2, 2000, 2400, 42);
		List<Element> bars = elements(drawing(VIOLATION), "rect", "body");
		assertThat(number(bars.get(1), "y") - number(bars.get(0), "y")).isGreaterThan(number(bars.get(0), "height"));
	}

	@Test
	void otherKeysAreLeftOut() throws Exception {
		grant("w1", 1, 1500, 2100, 41);
		add(1600, "w9", 1, Kind.ACQUIRE, "two", 0, "");
		add(1600, "w9", 1, Kind.GRANTED, "two", 7, "");
		assertThat(texts(drawing(VIOLATION), "process")).containsExactly("w1");
	}

	@Test
	void faultsAndDeathsAreShown() throws Exception {
		grant("w1", 1, 1500, 2100, 41);
		add(1600, "nemesis", 0, Kind.FAULT, "", 0, "P2");
		add(1900, "nemesis", 0, Kind.HEALED, "", 0, "P2");
		add(2200, "nemesis", 0, Kind.FAULT, "", 0, "N1");
		add(2100, "w1", 0, Kind.KILLED, "", 0, "SIGKILL");
		Document drawing = drawing(VIOLATION);
		assertThat(titles(drawing, "fault")).containsExactly("P2", "N1");
		assertThat(elements(drawing, "line", "killed")).hasSize(1);
	}

	@Test
	void writesAreMarkedByTheirOutcome() throws Exception {
		grant("w1", 1, 1500, 2100, 41);
		add(1600, "w1", 1, Kind.WRITE, "one", 41, "8");
		add(1700, "w1", 1, Kind.WROTE, "one", 41, "8");
		add(1800, "w1", 1, Kind.STALE, "one", 41, "9");
		Document drawing = drawing(VIOLATION);
		assertThat(titles(drawing, "write")).containsExactly("WRITE 8");
		assertThat(titles(drawing, "wrote")).containsExactly("WROTE 8");
		assertThat(titles(drawing, "bad")).containsExactly("STALE 9");
	}

	@Test
	void whatStandsInTheHistoryIsNoMarkup() throws Exception {
		String evil = "</pre><script>alert('1')</script>&\"@@text@@$1";
		grant(evil, 1, 1500, 2100, 41);
		add(1600, evil, 1, Kind.WRITE, "one", 41, evil);
		add(1600, "nemesis", 0, Kind.FAULT, "", 0, evil);
		Violation violation = new Violation("I4", "one", 2000 * MILLI, 2100 * MILLI, evil);
		String page = Timeline.page(new History(this.events, List.of()), violation);
		assertThat(page).doesNotContain("<script").doesNotContain("alert('");
		assertThat(page)
			.contains("<div>&lt;/pre&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;&quot;@@text@@$1");
		assertThat(texts(drawing(violation), "process")).containsExactly(evil);
	}

	@Test
	void pageNeedsNothingElse(@TempDir Path directory) throws IOException {
		grant("w1", 1, 1500, 2100, 41);
		Path file = Timeline.write(directory, new History(this.events, List.of()), VIOLATION);
		String page = Files.readString(file);
		assertThat(file).hasParent(directory);
		assertThat(page).doesNotContain("<script")
			.doesNotContain("src=")
			.doesNotContain("href=")
			.doesNotContain("url(");
		assertThat(page).contains("w1#1 and w2#1 both held the key").contains("GRANTED");
	}

	private void grant(String process, long attempt, long from, long to, long token) {
		add(from - 20, process, attempt, Kind.ACQUIRE, "one", 0, "");
		add(from, process, attempt, Kind.GRANTED, "one", token, "");
		add(to - 1, process, attempt, Kind.VALID, "one", token, "");
		add(to, process, attempt, Kind.END, "one", token, "");
	}

	private void add(long millis, String process, long attempt, Kind kind, String key, long token, String detail) {
		this.events
			.add(new Event(millis * MILLI, process, attempt, kind, key, (token > 0) ? "n" + token : "", token, detail));
	}

	private Document drawing(Violation violation) throws Exception {
		String page = Timeline.page(new History(this.events, List.of()), violation);
		String drawing = page.substring(page.indexOf("<svg"), page.indexOf("</svg>") + 6);
		return DocumentBuilderFactory.newInstance()
			.newDocumentBuilder()
			.parse(new InputSource(new StringReader(drawing)));
	}

	private static List<Element> elements(Document drawing, String name, String style) {
		NodeList nodes = drawing.getElementsByTagName(name);
		List<Element> elements = new ArrayList<>();
		for (int i = 0; i < nodes.getLength(); i++) {
			Element element = (Element) nodes.item(i);
			if (element.getAttribute("class").equals(style)) {
				elements.add(element);
			}
		}
		return elements;
	}

	private static List<String> texts(Document drawing, String style) {
		return elements(drawing, "text", style).stream().map(Element::getTextContent).toList();
	}

	private static List<String> titles(Document drawing, String style) {
		return Stream.of("rect", "circle")
			.flatMap((name) -> elements(drawing, name, style).stream())
			.map(Element::getTextContent)
			.toList();
	}

	private static double number(Element element, String attribute) {
		return Double.parseDouble(element.getAttribute(attribute));
	}

}
