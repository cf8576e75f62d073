package io.mutex.lab;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.mutex.lab.Result.Verdict;
import org.jspecify.annotations.Nullable;
import org.junit.platform.commons.support.HierarchyTraversalMode;
import org.junit.platform.commons.support.ReflectionSupport;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestExecutionResult.Status;
import org.junit.platform.engine.TestSource;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * The program that runs tests: its arguments are the file that it writes each outcome to,
 * and the selectors.
 */
public final class TestJvm implements TestExecutionListener {

	static final String DONE = "All tests have ended";

	/** Begins the line of a class whose tests have ended. */
	static final String ENDED = "# ";

	private static final String INVOCATION = "\\[\\d+]$";

	private final Path report;

	private final Collection<String> selectors;

	private final Map<String, Long> started = new ConcurrentHashMap<>();

	private @Nullable TestPlan plan;

	private TestJvm(Path report, Collection<String> selectors) {
		this.report = report;
		this.selectors = selectors;
	}

	public static void main(String[] arguments) {
		List<String> selectors = List.of(arguments).subList(1, arguments.length);
		LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
			.selectors(selectors.stream().flatMap(TestJvm::resolve).toList())
			.configurationParameter("junit.jupiter.execution.timeout.default", "5 m")
			.build();
		LauncherFactory.create().execute(request, new TestJvm(Path.of(arguments[0]), selectors));
		System.out.println("\n" + DONE);
		System.exit(0);
	}

	private static Stream<DiscoverySelector> resolve(String selector) {
		String[] words = selector.split("#", 2);
		Optional<Class<?>> type = ReflectionSupport.tryToLoadClass(words[0]).toOptional();
		if (type.isEmpty()) {
			return Stream.empty();
		}
		if (words.length == 1) {
			return Stream.of(DiscoverySelectors.selectClass(type.get()));
		}
		String name = words[1].replaceFirst(INVOCATION, "");
		Stream<DiscoverySelector> methods = ReflectionSupport
			.findMethods(type.get(), (method) -> method.getName().equals(name), HierarchyTraversalMode.TOP_DOWN)
			.stream()
			.map((method) -> DiscoverySelectors.selectMethod(type.get(), method));
		if (name.equals(words[1])) {
			return methods;
		}
		int invocation = Integer.parseInt(words[1].substring(name.length() + 1, words[1].length() - 1));
		return methods.map((method) -> DiscoverySelectors.selectIteration(method, invocation - 1));
	}

	@Override
	public void testPlanExecutionStarted(TestPlan plan) {
		this.plan = plan;
	}

	@Override
	public void executionStarted(TestIdentifier test) {
		this.started.put(test.getUniqueId(), System.nanoTime());
	}

	@Override
	public void executionSkipped(TestIdentifier test, String reason) {
		write(test, Verdict.SKIPPED, reason);
	}

	@Override
	public void executionFinished(TestIdentifier test, TestExecutionResult result) {
		// a container says something only of what did not come to its tests
		if (test.isTest() || result.getStatus() != Status.SUCCESSFUL) {
			Verdict verdict = switch (result.getStatus()) {
				case SUCCESSFUL -> Verdict.PASSED;
				case ABORTED -> Verdict.SKIPPED;
				case FAILED -> Verdict.VIOLATED;
			};
			write(test, verdict, result.getThrowable().map(TestJvm::reason).orElse(""));
		}
		if (test.getSource().orElse(null) instanceof ClassSource type) {
			write(ENDED + type.getClassName());
		}
	}

	private static String reason(Throwable ex) {
		String message = ex.getMessage();
		return (message == null || message.isBlank()) ? ex.toString() : message;
	}

	private void write(TestIdentifier test, Verdict verdict, String message) {
		long now = System.nanoTime();
		long nanos = now - this.started.getOrDefault(test.getUniqueId(), now);
		List<TestIdentifier> line = lineage(test);
		List<String> names = line.stream().flatMap((each) -> names(each).stream()).toList();
		List<String> selected = this.selectors.stream()
			.filter((selector) -> names.contains(selector.replaceFirst(INVOCATION, "")))
			.toList();
		write(new Outcome.Test(selected.isEmpty() ? List.copyOf(this.selectors) : selected, name(line), verdict,
				message, TimeUnit.NANOSECONDS.toMillis(nanos))
			.toLine());
	}

	private synchronized void write(String line) {
		try {
			Files.writeString(this.report, line + "\n", StandardOpenOption.APPEND);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	// a test and what it is in, from the inside out
	private List<TestIdentifier> lineage(TestIdentifier test) {
		List<TestIdentifier> line = new ArrayList<>();
		Optional<TestIdentifier> each = Optional.of(test);
		while (each.isPresent()) {
			line.add(each.get());
			each = Objects.requireNonNull(this.plan).getParent(each.get());
		}
		return line;
	}

	private static List<String> names(TestIdentifier test) {
		TestSource source = test.getSource().orElse(null);
		if (source instanceof MethodSource method) {
			return List.of(method.getClassName() + "#" + method.getMethodName());
		}
		return (source instanceof ClassSource type) ? List.of(type.getClassName()) : List.of();
	}

	private static String name(List<TestIdentifier> line) {
		TestIdentifier test = line.get(0);
		String place = line.stream()
			.flatMap((each) -> names(each).stream())
			.findFirst()
			.orElse("")
			.replaceFirst("^.*\\.", "");
		boolean several = line.size() > 1 && names(line.get(1)).equals(names(test));
		return (several || names(test).isEmpty()) ? place + " " + test.getDisplayName() : place;
	}

}
