package io.mutex.engine;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

import io.mutex.Lease;
import io.mutex.LockHazard;
import io.mutex.LockProvider.Renewal;
import io.mutex.MutexListener;
import io.mutex.StaleFencingTokenException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells every listener, and keeps what a listener throws away from the work.
 */
final class EngineListeners {

	private static final Logger logger = LoggerFactory.getLogger(MutexListener.class);

	private final List<MutexListener> listeners;

	EngineListeners(List<MutexListener> listeners) {
		this.listeners = List.copyOf(listeners);
	}

	void acquisition(String key, String name, String outcome, Duration took) {
		tell((listener) -> listener.acquisition(key, name, outcome, took));
	}

	void granted(Lease lease) {
		tell((listener) -> listener.granted(lease));
	}

	void lost(Lease lease, String reason) {
		tell((listener) -> listener.lost(lease, reason));
	}

	void refused(Lease lease, StaleFencingTokenException refusal) {
		tell((listener) -> listener.refused(lease, refusal));
	}

	void ended(Lease lease, Duration held) {
		tell((listener) -> listener.ended(lease, held));
	}

	void run(MutexListener.Run run, @Nullable Consumer<MutexListener.Run> observer) {
		tell((listener) -> listener.run(run));
		if (observer != null) {
			guarded(observer, () -> observer.accept(run));
		}
	}

	void hazard(LockHazard hazard) {
		tell((listener) -> listener.hazard(hazard));
	}

	void renewed(List<Renewal> answers) {
		tell((listener) -> listener.renewed((int) answers.stream().filter(Renewal.RENEWED::equals).count(),
				(int) answers.stream().filter((answer) -> answer != Renewal.RENEWED).count()));
	}

	void renewalFailed(int leases) {
		tell((listener) -> listener.renewed(0, leases));
	}

	private void tell(Consumer<MutexListener> event) {
		for (MutexListener listener : this.listeners) {
			guarded(listener, () -> event.accept(listener));
		}
	}

	private static void guarded(Object listener, Runnable call) {
		try {
			call.run();
		}
		catch (RuntimeException | Error ex) {
			logger.warn("A listener failed, which changes nothing else: {}", listener, ex);
		}
	}

}
