package io.mutex.sample;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.mutex.annotation.SingleRun;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * The report that must not go out twice.
 */
@Component
class ReportJob {

	private static final Logger logger = LoggerFactory.getLogger(ReportJob.class);

	private final Duration duration;

	ReportJob(@Value("${sample.report.duration}") Duration duration) {
		this.duration = duration;
	}

	@Scheduled(cron = "${sample.report.cron}")
	@SingleRun(key = "daily-report")
	void dailyReport() throws InterruptedException {
		logger.info("daily-report: begins");
		TimeUnit.MILLISECONDS.sleep(this.duration.toMillis());
		logger.info("daily-report: sent");
	}

}
