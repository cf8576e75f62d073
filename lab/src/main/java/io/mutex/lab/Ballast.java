package io.mutex.lab;

import java.util.Random;

/**
 * Objects that make the garbage collector stop a process for long: a chain that jumps
 * about in the memory, so that each step of the collector waits for it.
 */
final class Ballast {

	// each link holds the next
	private Object[] first = new Object[1];

	/**
	 * Fills the memory.
	 * @param links how many objects
	 */
	Ballast(int links) {
		Object[][] all = new Object[links][1];
		Random random = new Random(links);
		for (int index = links - 1; index >= 0; index--) {
			int other = random.nextInt(index + 1);
			Object[] link = all[other];
			all[other] = all[index];
			link[0] = this.first;
			this.first = link;
		}
	}

	/**
	 * Makes the garbage collector look at everything.
	 * @return how long the process stood still, in milliseconds
	 */
	long collect() {
		long begin = System.nanoTime();
		System.gc();
		long end = System.nanoTime();
		return (this.first[0] != null) ? (end - begin) / 1_000_000 : 0;
	}

}
