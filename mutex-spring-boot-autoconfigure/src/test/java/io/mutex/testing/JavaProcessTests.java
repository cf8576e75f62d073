package io.mutex.testing;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link JavaProcess}.
 */
class JavaProcessTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(30);

	@Test
	void childAnswersOnItsStandardOutput() {
		try (JavaProcess child = JavaProcess.of(Echo.class).systemProperty("greeting", "hello").start("a", "b")) {
			assertThat(child.awaitLine("ready", TIMEOUT)).isEqualTo("ready hello a b");
			child.sendLine("one");
			assertThat(child.awaitLine("echo", TIMEOUT)).isEqualTo("echo one");
			child.sendLine("exit");
			assertThat(child.awaitExit(TIMEOUT)).isEqualTo(3);
		}
	}

	@Test
	void pausedChildAnswersOnceItIsResumed() {
		try (JavaProcess child = JavaProcess.start(Echo.class)) {
			child.awaitLine("ready", TIMEOUT);
			child.pause();
			child.sendLine("one");
			assertThatExceptionOfType(AssertionError.class)
				.isThrownBy(() -> child.awaitLine("echo", Duration.ofMillis(300)));
			child.resume();
			assertThat(child.awaitLine("echo", TIMEOUT)).isEqualTo("echo one");
		}
	}

	@Test
	void killedChildIsGone() {
		try (JavaProcess child = JavaProcess.start(Echo.class)) {
			child.awaitLine("ready", TIMEOUT);
			child.kill();
			assertThat(child.awaitExit(TIMEOUT)).isEqualTo(128 + 9);
			assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> child.awaitLine("echo", TIMEOUT))
				.withMessageContaining("ended");
		}
	}

	@Test
	void childrenEndWithTheJvmThatStartedThem() {
		try (JavaProcess parent = JavaProcess.start(Parent.class)) {
			long pid = Long.parseLong(parent.awaitLine("child", TIMEOUT).substring("child ".length()));
			ProcessHandle child = ProcessHandle.of(pid).orElseThrow();
			// Not the whole tree, as JavaProcess.kill() does
			Signals.send("KILL", List.of(ProcessHandle.of(parent.pid()).orElseThrow()));
			assertThat(child.onExit()).succeedsWithin(TIMEOUT);
		}
	}

	static final class Echo {

		private Echo() {
		}

		public static void main(String[] args) throws IOException {
			BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
			System.out.println("ready " + System.getProperty("greeting") + " " + String.join(" ", args));
			String line = in.readLine();
			while (line != null && !line.equals("exit")) {
				System.out.println("echo " + line);
				line = in.readLine();
			}
			System.exit(3);
		}

	}

	static final class Parent {

		private Parent() {
		}

		public static void main(String[] args) throws IOException {
			try (JavaProcess child = JavaProcess.start(Echo.class)) {
				child.awaitLine("ready", TIMEOUT);
				System.out.println("child " + child.pid());
				System.in.read();
			}
		}

	}

}
