package io.mutex.interceptor;

import io.mutex.MutexException;
import org.jspecify.annotations.Nullable;

/**
 * An annotated method cannot be protected as it is declared. Thrown when its bean is
 * created.
 */
public class MutexConfigurationException extends MutexException {

	private static final long serialVersionUID = 1L;

	private final String beanName;

	private final String method;

	private final String problem;

	private final String remedy;

	public MutexConfigurationException(String beanName, String method, String problem, String remedy,
			@Nullable Throwable cause) {
		super(null, method + " of bean '" + beanName + "' cannot be protected: " + problem + ". " + remedy + ".",
				cause);
		this.beanName = beanName;
		this.method = method;
		this.problem = problem;
		this.remedy = remedy;
	}

	/**
	 * The bean whose method it is.
	 * @return the name of the bean
	 */
	public String getBeanName() {
		return this.beanName;
	}

	/**
	 * The annotated method.
	 * @return its class, name and parameter types
	 */
	public String getMethod() {
		return this.method;
	}

	/**
	 * What is wrong.
	 * @return half a sentence, without a full stop
	 */
	public String getProblem() {
		return this.problem;
	}

	/**
	 * What to do.
	 * @return a sentence, without a full stop
	 */
	public String getRemedy() {
		return this.remedy;
	}

}
