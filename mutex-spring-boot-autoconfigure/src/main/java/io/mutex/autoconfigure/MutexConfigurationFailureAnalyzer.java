package io.mutex.autoconfigure;

import io.mutex.interceptor.MutexConfigurationException;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Explains an annotated method that cannot be protected as it is declared.
 */
final class MutexConfigurationFailureAnalyzer extends AbstractFailureAnalyzer<MutexConfigurationException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, MutexConfigurationException cause) {
		return new FailureAnalysis(cause.getMethod() + " of bean '" + cause.getBeanName() + "' cannot be protected: "
				+ cause.getProblem() + ".", cause.getRemedy() + ".", cause);
	}

}
