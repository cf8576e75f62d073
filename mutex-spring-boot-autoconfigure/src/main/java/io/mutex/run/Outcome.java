package io.mutex.run;

/**
 * How a call of a single run ended.
 */
public enum Outcome {

	/**
	 * The body ran and returned, and the run record, if the call has a unit, is written.
	 */
	EXECUTED,

	/**
	 * The body did not run: another run holds the key.
	 */
	SKIPPED_HELD,

	/**
	 * The body did not run: the unit has succeeded already.
	 */
	SKIPPED_DONE,

	/**
	 * The body did not run: an earlier run of the unit died, and the policy is to report
	 * that instead of running again.
	 */
	SKIPPED_IN_DOUBT,

	/**
	 * The body did not run: an attempt of the unit failed and the next one is not due.
	 */
	SKIPPED_FAILED,

	/**
	 * The body, or the condition evaluated before it, threw; the unit stays open.
	 */
	FAILED,

	/**
	 * The lease was lost before the run could be recorded; the unit stays open.
	 */
	LEASE_LOST,

	/**
	 * The store could not be asked, or did not confirm the record or the release.
	 */
	STORE_ERROR;

	/**
	 * Whether the body was not entered because the run is, or was, somebody else's.
	 * @return {@code true} for the outcomes that a caller sees as an empty result
	 */
	public boolean isSkipped() {
		return switch (this) {
			case SKIPPED_HELD, SKIPPED_DONE, SKIPPED_IN_DOUBT, SKIPPED_FAILED -> true;
			case EXECUTED, FAILED, LEASE_LOST, STORE_ERROR -> false;
		};
	}

}
