package io.mutex.autoconfigure;

import io.mutex.LockProvider;
import io.mutex.health.MutexHealthIndicator;
import io.mutex.status.ClockOffset;
import io.mutex.status.LongHolds;
import io.mutex.status.OverdueRuns;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

/**
 * The health of the store.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({ HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class })
@ConditionalOnEnabledHealthIndicator("mutex")
class MutexHealthConfiguration {

	@Bean
	@ConditionalOnMissingBean(name = "mutexHealthIndicator")
	HealthIndicator mutexHealthIndicator(ObjectProvider<LockProvider> provider, MutexUse use,
			LockProviderSelector selector, OverdueRuns overdue, LongHolds longHolds, ClockOffset offset,
			Environment environment) {
		boolean overdueDown = environment.getProperty("management.health.mutex.overdue-down", Boolean.class, false);
		return new MutexHealthIndicator(use, provider::getObject, selector::namespace, overdue, longHolds, offset,
				overdueDown);
	}

}
