package io.mutex.http;

import java.util.List;

import org.springframework.http.server.PathContainer;
import org.springframework.web.util.pattern.PathPattern;
import org.springframework.web.util.pattern.PathPatternParser;

/**
 * The requests that are looked at, by their path within the application.
 */
public final class RequestPaths {

	private final List<PathPattern> patterns;

	/**
	 * Reads the patterns.
	 * @param patterns patterns as in {@code @RequestMapping}, such as {@code /ledger/**}
	 * @throws org.springframework.web.util.pattern.PatternParseException if one is
	 * malformed
	 */
	public RequestPaths(List<String> patterns) {
		this.patterns = patterns.stream().map(PathPatternParser.defaultInstance::parse).toList();
	}

	boolean contain(PathContainer path) {
		return this.patterns.stream().anyMatch((pattern) -> pattern.matches(path));
	}

}
