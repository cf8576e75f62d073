package io.mutex.interceptor;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.stream.Collectors;

import io.mutex.FencingToken;
import io.mutex.Lease;
import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;

/**
 * Where an annotation takes effect, in the words of error messages and logs.
 *
 * @param beanName the name of the bean
 * @param targetClass the class of the bean
 * @param method the method of that class
 */
record Declaration(String beanName, Class<?> targetClass, Method method) {

	MutexConfigurationException refuse(String problem, String remedy) {
		return refuse(problem, remedy, null);
	}

	MutexConfigurationException refuse(String problem, String remedy, @Nullable Throwable cause) {
		return new MutexConfigurationException(this.beanName, toString(), problem, remedy, cause);
	}

	/**
	 * Whether a caller has to pass something.
	 * @return {@code false} without parameters, or if the interceptor fills all of them
	 */
	boolean needsArguments() {
		return !Arrays.stream(this.method.getParameterTypes())
			.allMatch((type) -> type == FencingToken.class || type == Lease.class);
	}

	@Override
	public String toString() {
		return ClassUtils.getUserClass(this.targetClass).getName() + "." + this.method.getName()
				+ Arrays.stream(this.method.getParameterTypes())
					.map(Class::getSimpleName)
					.collect(Collectors.joining(", ", "(", ")"));
	}

}
