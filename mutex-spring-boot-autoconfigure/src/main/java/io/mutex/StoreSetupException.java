package io.mutex;

import org.jspecify.annotations.Nullable;

/**
 * The store is not fit for its work until somebody changes its set-up or the
 * configuration: a table is missing, a directory cannot be written. An application does
 * not start with it.
 */
public class StoreSetupException extends MutexException {

	private static final long serialVersionUID = 1L;

	private final String problem;

	private final String remedy;

	/**
	 * Creates the exception.
	 * @param problem what is wrong, as a sentence
	 * @param remedy what to do about it, as a sentence
	 * @param cause what revealed it, or {@code null}
	 */
	public StoreSetupException(String problem, String remedy, @Nullable Throwable cause) {
		super(null, problem + " " + remedy, cause);
		this.problem = problem;
		this.remedy = remedy;
	}

	/**
	 * What is wrong.
	 * @return a sentence
	 */
	public String getProblem() {
		return this.problem;
	}

	/**
	 * What to do about it.
	 * @return a sentence, possibly followed by statements to run
	 */
	public String getRemedy() {
		return this.remedy;
	}

}
