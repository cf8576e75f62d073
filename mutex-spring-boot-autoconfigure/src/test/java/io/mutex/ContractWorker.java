package io.mutex;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;

import io.mutex.LockProvider.Grant;
import io.mutex.run.Owner;

/**
 * Another process at the store under test: carries out what it is told on standard input
 * and answers each line with one.
 */
public final class ContractWorker {

	/**
	 * What every answer begins with, to tell it from log output.
	 */
	static final String ANSWER = "answer ";

	private final LockProvider provider;

	private ContractWorker(LockProvider provider) {
		this.provider = provider;
	}

	public static void main(String[] args) throws Exception {
		ProviderFactory factory = (ProviderFactory) Class.forName(args[0]).getConstructor().newInstance();
		List<String> arguments = Arrays.asList(args).subList(2, args.length);
		try (LockProvider provider = factory.create(args[1], arguments);
				BufferedReader input = new BufferedReader(
						new InputStreamReader(System.in, StandardCharsets.US_ASCII))) {
			ContractWorker worker = new ContractWorker(provider);
			System.out.println(ANSWER + "ready");
			for (String line = input.readLine(); line != null; line = input.readLine()) {
				System.out.println(ANSWER + worker.carryOut(line));
			}
		}
	}

	private String carryOut(String line) {
		String[] words = line.split(" ");
		for (int i = 0; i < words.length; i++) {
			words[i] = URLDecoder.decode(words[i], StandardCharsets.UTF_8);
		}
		try {
			return switch (words[0]) {
				case "acquire" -> acquire(words[1], words[2], words[3], words[4]);
				case "acquire-as" -> acquireAs(words[1], Integer.parseInt(words[2]), Owner.parse(words[3]));
				case "renew" -> this.provider.renew(List.of(grant(words))).toString();
				case "release" -> this.provider.release(words[1], words[2], Boolean.parseBoolean(words[3])).toString();
				case "complete" -> this.provider.complete(grant(words), words[4]).toString();
				case "count" -> count(words[1], Path.of(words[2]), Integer.parseInt(words[3]));
				default -> throw new IllegalArgumentException(line);
			};
		}
		catch (Exception ex) {
			ex.printStackTrace();
			return ex.toString().lines().findFirst().orElse("");
		}
	}

	private static Grant grant(String[] words) {
		return new Grant(words[1], words[2], Long.parseLong(words[3]), Duration.ofMinutes(2));
	}

	private String acquire(String key, String nonce, String millis, String unit) {
		Acquisition answer = this.provider.acquire(Ask.of(key)
			.nonce(nonce)
			.ttl(Duration.ofMillis(Long.parseLong(millis)))
			.unit(unit.equals("-") ? null : unit)
			.request());
		return text(answer);
	}

	// asks under the name of another process
	private String acquireAs(String key, int permits, Owner owner) {
		return text(this.provider.acquire(Ask.of(key).permits(permits).owner(owner).request()));
	}

	private static String text(Acquisition answer) {
		return (answer instanceof Acquisition.Granted granted)
				? "Granted " + granted.firstToken() + " " + granted.token() + " " + granted.attempt()
				: answer.getClass().getSimpleName();
	}

	private String count(String key, Path directory, int times) throws IOException {
		int overlaps = 0;
		for (int counted = 0; counted < times;) {
			AcquireRequest request = Ask.of(key).request();
			if (!(this.provider.acquire(request) instanceof Acquisition.Granted)) {
				Thread.yield();
				continue;
			}
			overlaps += increment(directory);
			counted++;
			this.provider.release(key, request.nonce(), true);
		}
		return "overlaps " + overlaps;
	}

	private static int increment(Path directory) throws IOException {
		Path inside = directory.resolve("inside");
		try {
			Files.createDirectory(inside);
		}
		catch (FileAlreadyExistsException ex) {
			return 1;
		}
		Path counter = directory.resolve("counter");
		int value = Files.exists(counter) ? Integer.parseInt(Files.readString(counter)) : 0;
		Files.writeString(counter, Integer.toString(value + 1));
		Files.delete(inside);
		return 0;
	}

}
