package io.mutex.benchmarks;

import java.util.ArrayList;
import java.util.List;

/**
 * What was measured so far.
 */
final class Results {

	private final List<Target> targets = new ArrayList<>();

	private final List<Table> tables = new ArrayList<>();

	private final List<Chart.Group> groups = new ArrayList<>();

	void add(Target target) {
		this.targets.add(target);
	}

	void add(Table table) {
		this.tables.add(table);
	}

	void add(Chart.Group group) {
		this.groups.add(group);
	}

	List<Target> targets() {
		return this.targets;
	}

	List<Table> tables() {
		return this.tables;
	}

	List<Chart.Group> groups() {
		return this.groups;
	}

	/**
	 * Figures that no target is about.
	 *
	 * @param title what they are
	 * @param notes how they were measured
	 * @param head the names of the columns
	 * @param rows the cells
	 */
	record Table(String title, String notes, List<String> head, List<List<String>> rows) {

	}

}
