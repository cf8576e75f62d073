package io.mutex.sample;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * Runs the sample with a real server of its own: the profile is the value of
 * {@code spring.profiles.active}, as an argument or a system property. With
 * {@code --store-only} it runs the server alone, until it is terminated. The only main
 * class among the tests, so that the build finds it.
 */
final class TestSampleApplication {

	private static final String STORE_ONLY = "--store-only";

	private static final String PROFILE = "spring.profiles.active";

	private TestSampleApplication() {
	}

	public static void main(String[] args) throws InterruptedException {
		List<String> arguments = new ArrayList<>(List.of(args));
		boolean storeOnly = arguments.remove(STORE_ONLY);
		List<String> store = Store.start(profile(arguments));
		if (storeOnly) {
			System.out.println("STORE " + String.join(" ", store));
			new CountDownLatch(1).await();
		}
		arguments.addAll(store);
		SampleApplication.main(arguments.toArray(String[]::new));
	}

	private static String profile(List<String> arguments) {
		String prefix = "--" + PROFILE + "=";
		return arguments.stream()
			.filter((argument) -> argument.startsWith(prefix))
			.map((argument) -> argument.substring(prefix.length()))
			.findFirst()
			.orElseGet(() -> System.getProperty(PROFILE, "file"));
	}

}
