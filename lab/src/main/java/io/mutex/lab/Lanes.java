package io.mutex.lab;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

import io.mutex.lab.Event.Kind;
import org.jspecify.annotations.Nullable;

/**
 * The drawing of a {@link Timeline}. Grants of one process that overlap lie below each
 * other.
 */
final class Lanes {

	private static final int LEFT = 90;

	private static final int TOP = 46;

	private static final int ROW = 30;

	private static final int MIN_WIDTH = 1200;

	private static final int MAX_WIDTH = 12_000;

	private static final double PIXELS_PER_MILLI = 0.6;

	private static final int SHOWN_DIGITS = 7;

	private static final int MOST_TICKS = 15;

	private final History history;

	private final Violation violation;

	private final long from;

	private final long to;

	private final double width;

	private final StringBuilder text = new StringBuilder();

	Lanes(History history, Violation violation) {
		this.history = history;
		this.violation = violation;
		this.from = violation.from() - History.MARGIN;
		this.to = violation.to() + History.MARGIN;
		this.width = Math.max(MIN_WIDTH, Math.min(MAX_WIDTH, (this.to - this.from) / 1e6 * PIXELS_PER_MILLI));
	}

	String draw() {
		Map<String, List<Span>> lanes = new TreeMap<>();
		this.history.calls().values().forEach((call) -> {
			Span span = Span.of(call, this.history);
			if (span.key().equals(this.violation.key()) && span.from() <= this.to && span.to() >= this.from) {
				lanes.computeIfAbsent(span.process(), (process) -> new ArrayList<>()).add(span);
			}
		});
		int bottom = TOP;
		StringBuilder drawn = new StringBuilder();
		for (Map.Entry<String, List<Span>> lane : lanes.entrySet()) {
			int rows = lane(lane.getKey(), lane.getValue(), bottom);
			drawn.append(this.text);
			this.text.setLength(0);
			bottom += rows * ROW + 14;
		}
		axis(bottom);
		faults(bottom);
		this.text.append(drawn);
		rect("violation", this.violation.from(), this.violation.to(), TOP - 6, bottom - TOP + 6,
				this.violation.invariant() + ": " + this.violation.text());
		return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%d\" role=\"img\">%n%s</svg>"
			.formatted(LEFT + this.width + 20, bottom + 12, this.text);
	}

	private int lane(String process, List<Span> spans, int top) {
		spans.sort(Comparator.comparingLong(Span::from));
		List<Long> ends = new ArrayList<>();
		for (Span span : spans) {
			int row = 0;
			while (row < ends.size() && ends.get(row) > span.from()) {
				row++;
			}
			if (row == ends.size()) {
				ends.add(span.to());
			}
			ends.set(row, span.to());
			span(span, top + row * ROW);
		}
		int rows = ends.size();
		label("process", 8, top + 17, process);
		line("lane", LEFT, top + rows * ROW + 6, LEFT + this.width, top + rows * ROW + 6);
		for (Event killed : this.history.of(Kind.KILLED)) {
			if (killed.process().equals(process) && isShown(killed.at())) {
				line("killed", x(killed.at()), top - 2, x(killed.at()), top + rows * ROW);
				label("small", x(killed.at()) + 5, top + 10, "killed");
			}
		}
		return rows;
	}

	private void span(Span span, int y) {
		Event grant = span.grant();
		line("asks", x(span.from()), y + 12, x((grant != null) ? grant.at() : span.to()), y + 12);
		if (grant != null) {
			String title = "%s token %d nonce %s".formatted(grant.call(), grant.token(), grant.nonce());
			rect("body", grant.at(), span.to(), y, 24, title);
			rect("valid", grant.at(), Math.max(grant.at(), span.valid()), y, 24, title);
			String token = Long.toString(grant.token());
			String shown = (token.length() > SHOWN_DIGITS) ? "…" + token.substring(token.length() - SHOWN_DIGITS)
					: token;
			double begin = Math.max(x(this.from), x(grant.at()));
			if (x(span.to()) - begin > shown.length() * 8) {
				label("token", begin + 5, y + 14, shown);
			}
		}
		span.events().forEach((event) -> mark(event, y + 22));
	}

	private void mark(Event event, int y) {
		String style = switch (event.kind()) {
			case WRITE -> "write";
			case WROTE -> "wrote";
			case STALE -> "bad";
			case DOUBTFUL, UNKNOWN -> "unknown";
			case EFFECT, RECORDED, SKIPPED -> "run";
			case FOREIGN, LISTED -> isChange(event) ? "bad" : null;
			default -> null;
		};
		if (style != null && isShown(event.at())) {
			this.text.append("<circle class=\"%s\" cx=\"%s\" cy=\"%d\" r=\"5\"><title>%s</title></circle>%n"
				.formatted(style, number(x(event.at())), y, Timeline.escape(event.kind() + " " + event.detail())));
		}
	}

	private static boolean isChange(Event event) {
		String[] states = event.detail().split(" -> ", 2);
		return states.length == 2 && !states[0].equals(states[1]);
	}

	private void axis(int bottom) {
		double millis = (this.to - this.from) / 1e6;
		double step = step(millis / MOST_TICKS);
		double begin = (this.from - this.violation.from()) / 1e6;
		for (double tick = Math.ceil(begin / step) * step; tick <= begin + millis; tick += step) {
			double x = x(this.violation.from() + (long) (tick * 1e6));
			line("tick", x, TOP - 6, x, bottom);
			label("small", x - 12, 16, "%+.0f ms".formatted(tick));
		}
	}

	// 1, 2 or 5 and some zeros
	private static double step(double least) {
		double power = Math.pow(10, Math.floor(Math.log10(least)));
		return power * ((least <= 2 * power) ? 2 : (least <= 5 * power) ? 5 : 10);
	}

	private void faults(int bottom) {
		List<Event> open = new ArrayList<>();
		for (Event event : this.history.events()) {
			if (event.kind() == Kind.FAULT) {
				open.add(event);
			}
			else if (event.kind() == Kind.HEALED && !open.isEmpty()) {
				fault(open.remove(open.size() - 1), event.at(), bottom);
			}
		}
		open.forEach((event) -> fault(event, this.to, bottom));
	}

	private void fault(Event fault, long end, int bottom) {
		if (fault.at() <= this.to && end >= this.from) {
			rect("fault", fault.at(), end, TOP - 22, bottom - TOP + 22, fault.detail());
			label("small", Math.max(LEFT, x(fault.at())) + 4, TOP - 11, fault.detail());
		}
	}

	private boolean isShown(long at) {
		return at >= this.from && at <= this.to;
	}

	private double x(long at) {
		double part = (at - this.from) / (double) (this.to - this.from);
		return LEFT + Math.max(0, Math.min(1, part)) * this.width;
	}

	private void rect(String style, long begin, long end, int y, int height, String title) {
		double x = x(begin);
		this.text.append(
				"<rect class=\"%s\" x=\"%s\" y=\"%d\" width=\"%s\" height=\"%d\" rx=\"2\"><title>%s</title></rect>%n"
					.formatted(style, number(x), y, number(Math.max(2, x(end) - x)), height, Timeline.escape(title)));
	}

	private void line(String style, double x1, double y1, double x2, double y2) {
		this.text.append("<line class=\"%s\" x1=\"%s\" y1=\"%s\" x2=\"%s\" y2=\"%s\"/>%n".formatted(style, number(x1),
				number(y1), number(x2), number(y2)));
	}

	private void label(String style, double x, double y, String content) {
		this.text.append("<text class=\"%s\" x=\"%s\" y=\"%s\">%s</text>%n".formatted(style, number(x), number(y),
				Timeline.escape(content)));
	}

	private static String number(double value) {
		return String.format(Locale.ROOT, "%.1f", value);
	}

	/**
	 * One call, from its request on.
	 *
	 * @param events what it has written down
	 * @param grant its grant, or {@code null}
	 * @param from when it asked
	 * @param valid until when it knew its lease to be valid
	 * @param to when its body ended, its process was killed, or it was refused
	 */
	private record Span(List<Event> events, @Nullable Event grant, long from, long valid, long to) {

		static Span of(List<Event> call, History history) {
			Event first = call.get(0);
			Event grant = Checker.first(call, Kind.GRANTED);
			Event end = Checker.first(call, Kind.END);
			long valid = call.stream()
				.filter((event) -> event.kind() == Kind.VALID)
				.mapToLong(Event::at)
				.max()
				.orElse(first.at());
			long last = call.get(call.size() - 1).at();
			long killed = history.of(Kind.KILLED)
				.stream()
				.filter((event) -> event.process().equals(first.process()) && event.at() >= last)
				.mapToLong(Event::at)
				.findFirst()
				.orElse(last);
			return new Span(call, grant, first.at(), valid, (end != null) ? end.at() : killed);
		}

		String process() {
			return this.events.get(0).process();
		}

		String key() {
			return this.events.get(0).key();
		}

	}

}
