package io.mutex.autoconfigure;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import io.mutex.MutexTemplate;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.ConfigurationCondition;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * Matches unless a parent context has a template of the application's own. That serves
 * its children as well; an auto-configured one ends with its own context.
 */
final class NoTemplateOfParentCondition extends SpringBootCondition implements ConfigurationCondition {

	private static final Set<String> AUTO_CONFIGURED = Set.of(MutexAutoConfiguration.ENGINE_BEAN_NAME,
			MutexObservationConfiguration.TEMPLATE_BEAN_NAME);

	@Override
	public ConfigurationPhase getConfigurationPhase() {
		return ConfigurationPhase.REGISTER_BEAN;
	}

	@Override
	public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
		ConditionMessage.Builder message = ConditionMessage.forCondition("MutexTemplate of a parent context");
		ConfigurableListableBeanFactory beanFactory = context.getBeanFactory();
		BeanFactory parent = (beanFactory != null) ? beanFactory.getParentBeanFactory() : null;
		List<String> names = new ArrayList<>();
		if (parent instanceof ListableBeanFactory listable) {
			names.addAll(List
				.of(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(listable, MutexTemplate.class, true, false)));
			names.removeAll(AUTO_CONFIGURED);
		}
		return names.isEmpty() ? ConditionOutcome.match(message.because("there is none"))
				: ConditionOutcome.noMatch(message.foundExactly(names.toArray()));
	}

}
