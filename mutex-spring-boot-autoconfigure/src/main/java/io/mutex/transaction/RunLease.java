package io.mutex.transaction;

import io.mutex.Lease;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.ProxyMethodInvocation;

/**
 * The lease that a call was granted, as the inner advice of the same call sees it. A call
 * that re-enters a lease has none.
 */
final class RunLease {

	private static final String ATTRIBUTE = RunLease.class.getName();

	private RunLease() {
	}

	static @Nullable Lease of(MethodInvocation invocation) {
		return (invocation instanceof ProxyMethodInvocation proxied
				&& proxied.getUserAttribute(ATTRIBUTE) instanceof Lease lease) ? lease : null;
	}

	static void set(MethodInvocation invocation, Lease lease) {
		if (invocation instanceof ProxyMethodInvocation proxied) {
			proxied.setUserAttribute(ATTRIBUTE, lease);
		}
	}

}
