package io.mutex.autoconfigure;

import io.mutex.Lease;
import io.mutex.LeaseLostEvent;
import io.mutex.LockHazard;
import io.mutex.MutexListener;

import org.springframework.context.ApplicationEventPublisher;

/**
 * Publishes the ends of single runs, the losses of leases and what the monitors notice as
 * application events: {@link MutexListener.Run}, {@link LeaseLostEvent} and
 * {@link LockHazard}.
 */
final class EventPublishingListener implements MutexListener {

	private final ApplicationEventPublisher publisher;

	EventPublishingListener(ApplicationEventPublisher publisher) {
		this.publisher = publisher;
	}

	@Override
	public void lost(Lease lease, String reason) {
		this.publisher.publishEvent(new LeaseLostEvent(lease, reason));
	}

	@Override
	public void hazard(LockHazard hazard) {
		this.publisher.publishEvent(hazard);
	}

	@Override
	public void run(Run run) {
		this.publisher.publishEvent(run);
	}

}
