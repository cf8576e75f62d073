package io.mutex.autoconfigure;

import io.mutex.Lease;
import io.mutex.LeaseLostEvent;
import io.mutex.MutexListener;

import org.springframework.context.ApplicationEventPublisher;

/**
 * Publishes the ends of single runs and the losses of leases as application events:
 * {@link MutexListener.Run} and {@link LeaseLostEvent}.
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
	public void run(Run run) {
		this.publisher.publishEvent(run);
	}

}
