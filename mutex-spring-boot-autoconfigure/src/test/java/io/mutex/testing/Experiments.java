package io.mutex.testing;

/**
 * How far an experiment goes: a reduced count in every build, the full one with
 * {@code -Pexperiments}. Such a test is tagged {@code experiment} and prints one line
 * with its figures.
 */
public final class Experiments {

	private static final boolean FULL = "full".equals(System.getProperty("mutex.experiments"));

	private Experiments() {
	}

	/**
	 * The number of rounds.
	 * @param reduced in every build
	 * @param full with the profile
	 * @return the one that holds now
	 */
	public static int rounds(int reduced, int full) {
		return FULL ? full : reduced;
	}

	/**
	 * Prints what an experiment has measured.
	 * @param name the experiment
	 * @param figures what it counted
	 */
	public static void report(String name, String figures) {
		System.out.println("Experiment " + name + ": " + figures);
	}

}
