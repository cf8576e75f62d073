package io.mutex.http;

/**
 * A request is not to be processed.
 */
final class RequestRefusedException extends Exception {

	private static final long serialVersionUID = 1L;

	private final transient Problem problem;

	RequestRefusedException(Problem problem, Throwable cause) {
		super(problem.detail(), cause);
		this.problem = problem;
	}

	RequestRefusedException(Problem problem) {
		super(problem.detail());
		this.problem = problem;
	}

	Problem problem() {
		return this.problem;
	}

}
