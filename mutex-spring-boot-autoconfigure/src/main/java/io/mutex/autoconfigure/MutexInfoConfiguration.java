package io.mutex.autoconfigure;

import java.util.LinkedHashMap;
import java.util.Map;

import io.mutex.LockProvider;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.info.ConditionalOnEnabledInfoContributor;
import org.springframework.boot.actuate.info.InfoContributor;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * What the info endpoint says of the locks.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({ InfoContributor.class, ConditionalOnEnabledInfoContributor.class })
@ConditionalOnEnabledInfoContributor("mutex")
class MutexInfoConfiguration {

	@Bean
	@ConditionalOnMissingBean(name = "mutexInfoContributor")
	InfoContributor mutexInfoContributor(ObjectProvider<LockProvider> provider, MutexUse use,
			LockProviderSelector selector) {
		return (builder) -> {
			Map<String, Object> details = new LinkedHashMap<>();
			details.put("provider", use.getAsBoolean() ? provider.getObject().name() : "not used");
			details.put("namespace", selector.namespace());
			String version = LockProvider.class.getPackage().getImplementationVersion();
			details.put("version", (version != null) ? version : "unknown");
			builder.withDetail("mutex", details);
		};
	}

}
