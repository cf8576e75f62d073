package io.mutex.interceptor;

import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.annotation.ScheduledAnnotationBeanPostProcessor;
import org.springframework.scheduling.concurrent.ConcurrentTaskScheduler;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

/**
 * The schedulers on which the starter calls methods: that of the method's own schedule,
 * else the application's, else one of its own with a single thread.
 */
final class RepeatSchedulers implements AutoCloseable {

	private final BeanFactory beanFactory;

	private final ReentrantLock lock = new ReentrantLock();

	private @Nullable ThreadPoolTaskScheduler own;

	RepeatSchedulers(BeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	TaskScheduler get(SingleRunOperation operation) {
		String name = operation.schedule().scheduler();
		if (!name.isEmpty()) {
			Object named = this.beanFactory.getBean(name);
			if (named instanceof TaskScheduler scheduler) {
				return scheduler;
			}
			if (named instanceof ScheduledExecutorService executor) {
				return new ConcurrentTaskScheduler(executor);
			}
		}
		TaskScheduler unique = this.beanFactory.getBeanProvider(TaskScheduler.class).getIfUnique();
		if (unique != null) {
			return unique;
		}
		String standard = ScheduledAnnotationBeanPostProcessor.DEFAULT_TASK_SCHEDULER_BEAN_NAME;
		return (this.beanFactory.containsBean(standard) && this.beanFactory.isTypeMatch(standard, TaskScheduler.class))
				? this.beanFactory.getBean(standard, TaskScheduler.class) : own();
	}

	private TaskScheduler own() {
		this.lock.lock();
		try {
			if (this.own == null) {
				ThreadPoolTaskScheduler created = new ThreadPoolTaskScheduler();
				created.setDaemon(true);
				created.setThreadNamePrefix("mutex-repeat-");
				created.setRemoveOnCancelPolicy(true);
				created.initialize();
				this.own = created;
			}
			return this.own;
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Ends the starter's own thread.
	 */
	@Override
	public void close() {
		this.lock.lock();
		try {
			if (this.own != null) {
				this.own.shutdown();
				this.own = null;
			}
		}
		finally {
			this.lock.unlock();
		}
	}

}
