package io.mutex.testing;

import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestExecutionResult.Status;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/**
 * Prints which cases from field reports have run: tests carry their ids in their names.
 */
public final class FieldCases implements TestExecutionListener {

	private static final Pattern ID = Pattern.compile("\\bC(\\d{2,3})\\b");

	private final Set<Integer> passed = ConcurrentHashMap.newKeySet();

	private final Set<Integer> failed = ConcurrentHashMap.newKeySet();

	@Override
	public void testPlanExecutionStarted(TestPlan plan) {
		// with several test JVMs each class is a plan
		this.passed.clear();
		this.failed.clear();
	}

	@Override
	public void executionFinished(TestIdentifier test, TestExecutionResult result) {
		Matcher ids = ID.matcher(test.getDisplayName());
		// one that a store cannot show says nothing of the case
		while (result.getStatus() != Status.ABORTED && ids.find()) {
			Set<Integer> ran = (result.getStatus() == Status.SUCCESSFUL) ? this.passed : this.failed;
			ran.add(Integer.valueOf(ids.group(1)));
		}
	}

	@Override
	public void testPlanExecutionFinished(TestPlan plan) {
		this.passed.removeAll(this.failed);
		if (!this.passed.isEmpty() || !this.failed.isEmpty()) {
			System.out.println("Field cases: " + this.passed.size() + " passed " + names(this.passed) + ", "
					+ this.failed.size() + " failed " + names(this.failed));
		}
	}

	private static Set<String> names(Set<Integer> cases) {
		Set<String> names = new TreeSet<>();
		cases.forEach((id) -> names.add("C%03d".formatted(id)));
		return names;
	}

}
