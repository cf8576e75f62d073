package io.mutex.sample;

import java.time.Duration;

import io.mutex.LeaseLostException;
import io.mutex.StaleFencingTokenException;
import io.mutex.sample.LedgerService.Account;

import org.springframework.format.annotation.DurationFormat;
import org.springframework.format.annotation.DurationFormat.Style;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/**
 * Bookings over HTTP.
 */
@RestController
class LedgerController {

	private final LedgerService ledger;

	LedgerController(LedgerService ledger) {
		this.ledger = ledger;
	}

	@PostMapping("/accounts/{id}")
	Account post(@PathVariable String id, @RequestParam long amount,
			@RequestParam(defaultValue = "0s") @DurationFormat(style = Style.SIMPLE) Duration work) {
		return this.ledger.post(id, amount, work, null);
	}

	@GetMapping("/accounts/{id}")
	Account find(@PathVariable String id) {
		return this.ledger.find(id);
	}

	@ExceptionHandler({ StaleFencingTokenException.class, LeaseLostException.class })
	ProblemDetail refused(Exception ex) {
		ProblemDetail problem = ProblemDetail.forStatusAndDetail(HttpStatus.CONFLICT, ex.getMessage());
		problem.setTitle(ex.getClass().getSimpleName());
		return problem;
	}

}
