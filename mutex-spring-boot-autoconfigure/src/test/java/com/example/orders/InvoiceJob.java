package com.example.orders;

import java.util.ArrayList;
import java.util.List;

import io.mutex.FencingToken;
import io.mutex.Lease;
import io.mutex.annotation.Fenced;
import io.mutex.annotation.SingleRun;
import org.jspecify.annotations.Nullable;

import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/**
 * The jobs, one for each form of annotation.
 */
@Component
class InvoiceJob {

	private final InvoiceRepository invoices;

	private final List<String> reminders = new ArrayList<>();

	InvoiceJob(InvoiceRepository invoices) {
		this.invoices = invoices;
	}

	@Scheduled(cron = "0 0 3 * * *", zone = "Asia/Seoul")
	@SingleRun("remind")
	public void remind() {
		this.reminders.add("sent");
	}

	List<String> reminders() {
		return this.reminders;
	}

	@SingleRun(key = "invoices", unit = "#{#day}")
	@Transactional
	public @Nullable String invoice(String day) {
		this.invoices.save(new Invoice(day));
		return day;
	}

	@Fenced(key = "customer:#{#id}")
	public String correct(String id, @Nullable FencingToken token, @Nullable Lease lease) {
		return id + " " + ((token != null) ? token.value() : "-") + " " + ((lease != null) ? lease.key() : "-");
	}

}
