package io.mutex.testing;

import java.time.Duration;

import org.awaitility.Awaitility;
import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.LauncherSessionListener;

/**
 * Lets tests wait for long, where they do not say for how long: what they wait for comes
 * soon, but not on a machine that does much else.
 */
public final class Patience implements LauncherSessionListener {

	@Override
	public void launcherSessionOpened(LauncherSession session) {
		Awaitility.setDefaultTimeout(Duration.ofMinutes(1));
	}

}
