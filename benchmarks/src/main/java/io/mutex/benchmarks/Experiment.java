package io.mutex.benchmarks;

/**
 * Measures one thing.
 */
@FunctionalInterface
interface Experiment {

	/**
	 * Measures.
	 * @param scale how long
	 * @param servers the servers
	 * @param results where the results go
	 * @throws Exception if nothing can be measured
	 */
	void measure(Scale scale, Servers servers, Results results) throws Exception;

}
