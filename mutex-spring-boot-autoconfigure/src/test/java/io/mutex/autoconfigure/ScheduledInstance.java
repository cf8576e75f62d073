package io.mutex.autoconfigure;

import io.mutex.MutexListener;
import io.mutex.annotation.SingleRun;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

/**
 * One instance of an application with a scheduled single run. Says how each of its calls
 * ended, and when a body begins.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
@EnableScheduling
class ScheduledInstance {

	/** The seconds between two firings. */
	static final int INTERVAL = 2;

	private static final long BODY_MILLIS = 300;

	public static void main(String[] arguments) {
		new SpringApplicationBuilder(ScheduledInstance.class).web(WebApplicationType.NONE).run(arguments);
		System.out.println("READY");
	}

	@Bean
	Job job() {
		return new Job();
	}

	static class Job {

		@Scheduled(cron = "*/" + INTERVAL + " * * * * *")
		@SingleRun(key = "daily-report")
		void report() throws InterruptedException {
			System.out.println("BODY");
			Thread.sleep(BODY_MILLIS);
		}

		@EventListener
		void ended(MutexListener.Run run) {
			System.out.println("RUN " + run.unit() + " " + run.outcome());
		}

	}

}
