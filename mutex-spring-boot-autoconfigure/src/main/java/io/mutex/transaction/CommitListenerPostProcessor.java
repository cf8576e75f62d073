package io.mutex.transaction;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.transaction.ConfigurableTransactionManager;

/**
 * Gives every transaction manager the listener that confirms leases and records runs. The
 * listener is no bean itself, so that nobody adds it twice.
 */
public final class CommitListenerPostProcessor implements BeanPostProcessor {

	private final FenceCheck check;

	/**
	 * Creates the post-processor.
	 * @param check confirms leases
	 */
	public CommitListenerPostProcessor(FenceCheck check) {
		this.check = check;
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		if (bean instanceof ConfigurableTransactionManager manager) {
			CommitListener.addTo(manager, this.check);
		}
		return bean;
	}

}
