package io.mutex.benchmarks;

/**
 * One row of the targets.
 *
 * @param work what is measured
 * @param limit what it has to be, with the words of {@link #atMost} or {@link #atLeast}
 * @param bound the number of the limit
 * @param least whether the bound is a lower one
 * @param measured what was measured
 * @param unit the unit of the numbers, {@code x} for a ratio
 */
record Target(String work, String limit, double bound, boolean least, Spread measured, String unit) {

	static Target atMost(double bound, String unit, String than, String work, Spread measured) {
		return new Target(work, "at most " + limit(bound, unit, than), bound, false, measured, unit);
	}

	static Target atLeast(double bound, String unit, String than, String work, Spread measured) {
		return new Target(work, "at least " + limit(bound, unit, than), bound, true, measured, unit);
	}

	private static String limit(double bound, String unit, String than) {
		String number = (bound == Math.rint(bound)) ? Long.toString((long) bound) : Double.toString(bound);
		return number + (unit.isEmpty() ? "" : " " + unit) + (than.isEmpty() ? "" : " " + than);
	}

	boolean isMet() {
		return this.least ? this.measured.median() >= this.bound : this.measured.median() <= this.bound;
	}

}
