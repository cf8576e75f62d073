package io.mutex.proof;

import java.lang.reflect.Method;
import java.util.Objects;

import io.mutex.LockProvider;
import io.mutex.MutexListener;
import io.mutex.annotation.CatchUp;
import io.mutex.annotation.OnInDoubt;
import io.mutex.annotation.SingleRun;
import io.mutex.autoconfigure.MutexAutoConfiguration;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.support.ScheduledMethodRunnable;

/**
 * An instance of an application whose jobs the starter runs by itself. Their schedules
 * fire at new year; the tests fire them when they want to.
 */
@Configuration(proxyBeanMethods = false)
@EnableScheduling
@ImportAutoConfiguration({ MutexAutoConfiguration.class, TaskSchedulingAutoConfiguration.class })
class RepeatingInstance {

	static final String CRON = "0 0 0 1 1 *";

	/** A process whose job says that it has begun and never ends. */
	public static void main(String[] arguments) {
		LockProvider provider = Store.valueOf(arguments[0]).open(arguments[1], arguments[2]);
		ConfigurableApplicationContext context = start(provider, "dying", (job) -> {
			System.out.println("BODY " + job);
			Thread.sleep(Long.MAX_VALUE);
		}, (run) -> {
		});
		fire(context, arguments[3]);
	}

	static ConfigurableApplicationContext start(LockProvider provider, String name, Body body, Ended ended) {
		ApplicationContextInitializer<GenericApplicationContext> beans = (context) -> {
			context.registerBean("lockProvider", LockProvider.class, () -> provider,
					(definition) -> definition.setDestroyMethodName(""));
			context.registerBean("jobs", Jobs.class, () -> new Jobs(body));
			context.registerBean("ended", MutexListener.class, () -> new MutexListener() {

				@Override
				public void run(Run run) {
					ended.accept(run);
				}

			});
		};
		return new SpringApplicationBuilder(RepeatingInstance.class).web(WebApplicationType.NONE)
			.initializers(beans)
			.properties("spring.main.banner-mode=off", "logging.level.root=warn", "mutex.instance-id=" + name,
					"spring.application.name=repeating", "spring.main.register-shutdown-hook=false",
					"mutex.shutdown.drain-timeout=1s")
			.run();
	}

	/** Calls a job as its scheduler does. */
	static void fire(ConfigurableApplicationContext context, String job) {
		Jobs jobs = context.getBean(Jobs.class);
		try {
			Method method = jobs.getClass().getMethod(job);
			new ScheduledMethodRunnable(jobs, method).run();
		}
		catch (NoSuchMethodException ex) {
			throw new IllegalArgumentException(ex);
		}
		catch (Failing ex) {
			// as the error handler of a scheduler
		}
	}

	/** What every job does. */
	interface Body {

		void run(String job) throws InterruptedException;

	}

	/** Told how each call ends. */
	interface Ended {

		void accept(MutexListener.Run run);

	}

	/** What a body throws. */
	static final class Failing extends RuntimeException {

		private static final long serialVersionUID = 1L;

		Failing() {
			super("failing");
		}

	}

	/** The jobs. */
	static class Jobs {

		private final Body body;

		private volatile String unit = "none";

		Jobs(Body body) {
			this.body = body;
		}

		public String getUnit() {
			return this.unit;
		}

		public void setUnit(String unit) {
			this.unit = Objects.requireNonNull(unit);
		}

		@Scheduled(cron = CRON, zone = "UTC")
		@SingleRun(key = "round", unit = "#{@jobs.unit}", maxRetries = 2, delay = "50ms", lease = "10s")
		public void round() throws InterruptedException {
			this.body.run(this.unit);
		}

		@Scheduled(cron = CRON, zone = "UTC")
		@SingleRun(key = "takenOver", maxRetries = 1, lease = "5s")
		public void takenOver() throws InterruptedException {
			this.body.run("takenOver");
		}

		@Scheduled(cron = CRON, zone = "UTC")
		@SingleRun(key = "firstThrows", maxRetries = 3, delay = "2s")
		public void firstThrows() throws InterruptedException {
			this.body.run("firstThrows");
		}

		@Scheduled(cron = CRON, zone = "UTC")
		@SingleRun(key = "inDoubt", maxRetries = 3, delay = "100ms", lease = "2s", onInDoubt = OnInDoubt.SKIP)
		public void inDoubt() throws InterruptedException {
			this.body.run("inDoubt");
		}

		@Scheduled(cron = CRON, zone = "UTC")
		@SingleRun(key = "caughtUp", catchUp = CatchUp.LAST)
		public void caughtUp() throws InterruptedException {
			this.body.run("caughtUp");
		}

		@Scheduled(cron = CRON, zone = "UTC")
		@SingleRun(key = "neverRan", catchUp = CatchUp.LAST)
		public void neverRan() throws InterruptedException {
			this.body.run("neverRan");
		}

	}

}
