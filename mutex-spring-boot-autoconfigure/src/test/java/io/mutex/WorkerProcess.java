package io.mutex;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.mutex.testing.JavaProcess;

/**
 * A child JVM that runs {@link ContractWorker}.
 */
final class WorkerProcess implements AutoCloseable {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private final JavaProcess process;

	private WorkerProcess(JavaProcess process) {
		this.process = process;
	}

	static WorkerProcess start(ProviderFactory.Spec spec, String namespace) {
		String[] arguments = Stream.concat(Stream.of(spec.factory().getName(), namespace), spec.arguments().stream())
			.toArray(String[]::new);
		return new WorkerProcess(JavaProcess.of(ContractWorker.class)
			.jvmArguments("-XX:TieredStopAtLevel=1", "-Dfile.encoding=UTF-8")
			.start(arguments));
	}

	WorkerProcess awaitReady() {
		answer();
		return this;
	}

	long pid() {
		return this.process.pid();
	}

	/**
	 * Tells the child what to do.
	 * @param words the command and its arguments
	 * @return the answer
	 */
	String tell(String... words) {
		send(words);
		return answer();
	}

	void send(String... words) {
		this.process.sendLine(Arrays.stream(words)
			.map((word) -> URLEncoder.encode(word, StandardCharsets.UTF_8))
			.collect(Collectors.joining(" ")));
	}

	String answer() {
		return this.process.awaitLine(ContractWorker.ANSWER, PATIENCE).substring(ContractWorker.ANSWER.length());
	}

	/**
	 * Ends the child as a crash would.
	 */
	void kill() {
		this.process.kill();
	}

	@Override
	public void close() {
		this.process.close();
	}

}
