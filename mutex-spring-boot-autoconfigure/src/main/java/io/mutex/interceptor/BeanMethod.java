package io.mutex.interceptor;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.util.ReflectionUtils;

/**
 * Calls a method through the proxy of its bean, as a scheduler does. A method that takes
 * a lease or a fencing token gets it from the interceptor.
 */
final class BeanMethod {

	private BeanMethod() {
	}

	/**
	 * Calls the method of the bean that was declared first.
	 * @param beanFactory where the bean lives
	 * @param declaration the method
	 * @return what it returns
	 * @throws Throwable what it throws
	 */
	static @Nullable Object call(BeanFactory beanFactory, Declaration declaration) throws Throwable {
		return call(beanFactory.getBean(declaration.beanName()), declaration);
	}

	/**
	 * Calls the method of a bean.
	 * @param bean the proxy
	 * @param declaration the method
	 * @return what it returns
	 * @throws Throwable what it throws
	 */
	static @Nullable Object call(Object bean, Declaration declaration) throws Throwable {
		Method method = AopUtils.selectInvocableMethod(declaration.method(), bean.getClass());
		ReflectionUtils.makeAccessible(method);
		try {
			return method.invoke(bean, new Object[method.getParameterCount()]);
		}
		catch (InvocationTargetException ex) {
			throw ex.getTargetException();
		}
	}

}
