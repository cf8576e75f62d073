package io.mutex.autoconfigure;

import java.lang.annotation.Annotation;

import io.mutex.StoreSetupException;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;

/**
 * Finds the connection to a store among several: the marked one, else the only or primary
 * one.
 */
final class StoreBeans {

	private StoreBeans() {
	}

	static <T> T find(ListableBeanFactory beanFactory, Class<T> type, Class<? extends Annotation> mark) {
		for (String name : BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beanFactory, type, true, false)) {
			if (beanFactory.findAnnotationOnBean(name, mark, false) != null) {
				return beanFactory.getBean(name, type);
			}
		}
		try {
			return beanFactory.getBean(type);
		}
		catch (NoUniqueBeanDefinitionException ex) {
			throw new StoreSetupException(
					"The locks need one " + type.getSimpleName() + ", but the application has several: "
							+ ex.getBeanNamesFound() + ".",
					"Mark the one that keeps the locks with @" + mark.getSimpleName() + ", or one with @Primary.", ex);
		}
	}

}
