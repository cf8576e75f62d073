package io.mutex.transaction;

import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.function.BooleanSupplier;

import javax.sql.DataSource;

import io.mutex.fence.GuardedDataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.aop.framework.AopConfigException;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.framework.ProxyProcessorSupport;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryAware;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.util.ClassUtils;

/**
 * Puts a proxy before each data source, which has its connections checked inside
 * protected calls. The proxy has the class of the data source; where that cannot be, it
 * has its interfaces, if nothing needs the class.
 */
public final class GuardedDataSourcePostProcessor extends ProxyProcessorSupport
		implements BeanPostProcessor, BeanFactoryAware {

	private static final long serialVersionUID = 1L;

	private static final Logger logger = LoggerFactory.getLogger(GuardedDataSourcePostProcessor.class);

	private final transient FenceCheck check;

	private final transient BooleanSupplier possible;

	private transient @Nullable BeanFactory beanFactory;

	/**
	 * Creates the post-processor.
	 * @param check confirms leases
	 * @param possible whether there may be a guard for a data source, asked for when one
	 * is created
	 */
	public GuardedDataSourcePostProcessor(FenceCheck check, BooleanSupplier possible) {
		this.check = check;
		this.possible = possible;
	}

	@Override
	public void setBeanFactory(BeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		return (bean instanceof DataSource dataSource && !isGuarded(dataSource) && this.possible.getAsBoolean())
				? guarded(dataSource, beanName) : bean;
	}

	// what only delegates to another bean has its connections from that one
	private static boolean isGuarded(DataSource dataSource) {
		DataSource target = dataSource;
		while (target instanceof DelegatingDataSource delegating && delegating.getTargetDataSource() != null) {
			target = delegating.getTargetDataSource();
		}
		return target instanceof GuardedDataSource;
	}

	private DataSource guarded(DataSource dataSource, String beanName) {
		Class<?> type = dataSource.getClass();
		if (!Proxy.isProxyClass(type) && !Modifier.isFinal(type.getModifiers())) {
			try {
				return proxy(dataSource, true);
			}
			catch (AopConfigException ex) {
				logger.debug("No proxy of {} for bean '{}'", type, beanName, ex);
			}
		}
		if (Proxy.isProxyClass(type) || isDeclaredByInterface(beanName)) {
			return proxy(dataSource, false);
		}
		logger.warn("Bean '{}' is a {}, for which there can be no proxy: inside protected calls, what is written "
				+ "to it outside of a transaction of Spring is not checked. Declare the bean with the type DataSource",
				beanName, type.getName());
		return dataSource;
	}

	private DataSource proxy(DataSource dataSource, boolean ofClass) {
		ProxyFactory factory = new ProxyFactory(dataSource);
		factory.setProxyTargetClass(ofClass);
		factory.addInterface(GuardedDataSource.class);
		factory.addAdvice(new GuardedConnections(dataSource, this.check));
		return (DataSource) factory.getProxy(getProxyClassLoader());
	}

	// then nobody can ask for the class
	private boolean isDeclaredByInterface(String beanName) {
		if (!(this.beanFactory instanceof ConfigurableBeanFactory configurable)
				|| !configurable.containsBean(beanName)) {
			return false;
		}
		Class<?> declared = configurable.getMergedBeanDefinition(beanName).getResolvableType().resolve();
		return declared != null && declared.isInterface() && ClassUtils.isAssignable(DataSource.class, declared);
	}

}
