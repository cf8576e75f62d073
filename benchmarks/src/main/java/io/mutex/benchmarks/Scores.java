package io.mutex.benchmarks;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;

/**
 * What JMH has measured, in nanoseconds for each call.
 */
final class Scores {

	private final Map<String, Result<?>> results;

	Scores(Collection<RunResult> runs) {
		Function<RunResult, String> name = (run) -> run.getPrimaryResult().getLabel();
		this.results = runs.stream().collect(Collectors.toMap(name, (run) -> run.getPrimaryResult()));
	}

	double of(String name) {
		return result(name).getScore();
	}

	List<String> row(String name) {
		return List.of(name, Spread.number(of(name) / 1000), "± " + Spread.number(result(name).getScoreError() / 1000));
	}

	private Result<?> result(String name) {
		Result<?> result = this.results.get(name);
		if (result == null) {
			throw new IllegalArgumentException("no score '" + name + "' among " + this.results.keySet());
		}
		return result;
	}

}
