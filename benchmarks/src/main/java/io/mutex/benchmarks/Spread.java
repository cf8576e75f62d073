package io.mutex.benchmarks;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.DoubleStream;

/**
 * What several repetitions gave.
 *
 * @param median the middle one
 * @param min the lowest
 * @param max the highest
 */
record Spread(double median, double min, double max) {

	static Spread of(double... values) {
		double[] sorted = Arrays.stream(values).sorted().toArray();
		if (sorted.length == 0) {
			throw new IllegalArgumentException("nothing was measured");
		}
		double median = (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
		return new Spread(median, sorted[0], sorted[sorted.length - 1]);
	}

	static Spread of(DoubleStream values) {
		return of(values.toArray());
	}

	boolean isSingle() {
		return this.min == this.max;
	}

	String range() {
		return isSingle() ? "" : number(this.min) + " to " + number(this.max);
	}

	String middle() {
		return number(this.median);
	}

	static String number(double value) {
		double size = Math.abs(value);
		String format = (size >= 1000) ? "%,.0f" : (size >= 100) ? "%.0f" : (size >= 10) ? "%.1f" : "%.2f";
		return String.format(Locale.ROOT, format, value).replace(',', ' ');
	}

}
