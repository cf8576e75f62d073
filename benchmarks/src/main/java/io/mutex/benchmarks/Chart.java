package io.mutex.benchmarks;

import java.util.List;
import java.util.Locale;

/**
 * Draws ratios as bars, readable on a light and on a dark page.
 */
final class Chart {

	private static final int WIDTH = 800;

	private static final int LABEL = 310;

	private static final int BAR = 16;

	private static final int STEP = 22;

	private static final int HEAD = 34;

	private static final String STYLE = """
			<style>
			text { font: 13px system-ui, sans-serif; fill: #24292f; }
			.title { font-weight: 600; }
			.other { fill: #8c959f; }
			.mutex { fill: #0969da; }
			.line { stroke: #24292f; stroke-dasharray: 3 3; }
			@media (prefers-color-scheme: dark) {
			text { fill: #e6edf3; }
			.other { fill: #6e7681; }
			.mutex { fill: #58a6ff; }
			.line { stroke: #e6edf3; }
			}
			</style>
			""";

	private Chart() {
	}

	static String draw(List<Group> groups) {
		StringBuilder body = new StringBuilder();
		int y = 0;
		for (Group group : groups) {
			y = draw(group, y, body);
		}
		return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + WIDTH + "\" height=\"" + y + "\" viewBox=\"0 0 "
				+ WIDTH + " " + y + "\" role=\"img\" aria-label=\"Time of a lock beside its peers\">\n" + STYLE + body
				+ "</svg>\n";
	}

	private static int draw(Group group, int top, StringBuilder body) {
		double longest = group.bars().stream().mapToDouble(Bar::value).max().orElse(1);
		double scale = (WIDTH - LABEL - 70) / longest;
		int y = top + HEAD;
		body.append("<text class=\"title\" x=\"8\" y=\"%d\">%s</text>%n".formatted(top + 22, escape(group.title())));
		for (Bar bar : group.bars()) {
			double width = bar.value() * scale;
			body.append("<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>%n".formatted(LABEL - 8, y + 13,
					escape(bar.label())));
			body.append("<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%s\" height=\"%d\" rx=\"2\"/>%n"
				.formatted(bar.own() ? "mutex" : "other", LABEL, y, decimal(width), BAR));
			body.append("<text x=\"%s\" y=\"%d\">%s</text>%n".formatted(decimal(LABEL + width + 6), y + 13,
					Spread.number(bar.value())));
			y += STEP;
		}
		String one = decimal(LABEL + scale);
		body.append("<line class=\"line\" x1=\"%s\" x2=\"%s\" y1=\"%d\" y2=\"%d\"/>%n".formatted(one, one,
				top + HEAD - 4, y));
		return y + 10;
	}

	private static String decimal(double value) {
		return String.format(Locale.ROOT, "%.1f", value);
	}

	private static String escape(String text) {
		return text.replace("&", "&amp;").replace("<", "&lt;");
	}

	/**
	 * Bars that are compared with each other.
	 *
	 * @param title what they are
	 * @param bars the bars
	 */
	record Group(String title, List<Bar> bars) {

	}

	/**
	 * One bar.
	 *
	 * @param label what it is
	 * @param value its length
	 * @param own whether it is one of Mutex
	 */
	record Bar(String label, double value, boolean own) {

	}

}
