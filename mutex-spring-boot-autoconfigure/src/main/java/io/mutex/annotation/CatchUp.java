package io.mutex.annotation;

/**
 * What is done at start-up about a run that was missed while no instance was there.
 */
public enum CatchUp {

	/**
	 * What <code>mutex.single-run.catch-up</code> says.
	 */
	DEFAULT,

	/**
	 * Nothing.
	 */
	NONE,

	/**
	 * The last unit is run, once over all instances, if the job has run before and nobody
	 * has tried this unit or the run of it died. Earlier units stay missed.
	 */
	LAST

}
