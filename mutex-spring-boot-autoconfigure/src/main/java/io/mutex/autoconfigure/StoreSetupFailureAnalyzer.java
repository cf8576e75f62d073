package io.mutex.autoconfigure;

import io.mutex.StoreSetupException;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Explains a store that is not set up, or a choice of stores that is not clear.
 */
final class StoreSetupFailureAnalyzer extends AbstractFailureAnalyzer<StoreSetupException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, StoreSetupException cause) {
		return new FailureAnalysis(cause.getProblem(), cause.getRemedy(), cause);
	}

}
