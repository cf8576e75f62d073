package io.mutex.lab;

import java.util.Random;

import org.jspecify.annotations.Nullable;

/**
 * Objects that make the garbage collector stop a process for long: a chain that jumps
 * about in the memory, so that each step of the collector waits for it.
 */
final class Ballast {

	private @Nullable Link first;

	/**
	 * Fills the memory.
	 * @param links how many objects
	 */
	Ballast(int links) {
		Link[] all = new Link[links];
		for (int index = 0; index < links; index++) {
			all[index] = new Link();
		}
		Random random = new Random(links);
		for (int index = links - 1; index >= 0; index--) {
			int other = random.nextInt(index + 1);
			Link link = all[other];
			all[other] = all[index];
			link.next = this.first;
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
		return (this.first != null) ? (end - begin) / 1_000_000 : 0;
	}

	/**
	 * One object of the chain.
	 */
	private static final class Link {

		private @Nullable Link next;

	}

}
