package io.mutex.sample;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

import io.mutex.FencingToken;
import io.mutex.annotation.Fenced;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/**
 * Accounts that one worker at a time may change. A worker that was paused, and whose
 * account another one has by then, cannot commit.
 */
@Service
class LedgerService {

	private static final Logger logger = LoggerFactory.getLogger(LedgerService.class);

	private final JdbcClient jdbc;

	LedgerService(JdbcClient jdbc) {
		this.jdbc = jdbc;
	}

	/**
	 * Books an amount.
	 * @param id the account
	 * @param amount what to add
	 * @param work how long it takes from the read of the balance to the write
	 * @param token the token of the lease; callers pass {@code null}
	 * @return the account after the booking
	 */
	@Fenced(key = "account:#{#id}")
	@Transactional
	Account post(String id, long amount, Duration work, @Nullable FencingToken token) {
		if (token == null) {
			throw new IllegalStateException("post was not called through the bean");
		}
		Account current = find(id);
		logger.info("account {}: reads the balance {} under token {}", id, current.balance(), token);
		await(work);
		Account next = new Account(id, current.balance() + amount, token.value());
		logger.info("account {}: writes the balance {} under token {}", id, next.balance(), token);
		save(next);
		return next;
	}

	/**
	 * Reads an account.
	 * @param id the account
	 * @return the account, with a balance of 0 if it has no booking
	 */
	Account find(String id) {
		return this.jdbc.sql("select id, balance, token from account where id = :id")
			.param("id", id)
			.query(Account.class)
			.optional()
			.orElse(new Account(id, 0, 0));
	}

	private void save(Account account) {
		int rows = this.jdbc.sql("update account set balance = :balance, token = :token where id = :id")
			.paramSource(account)
			.update();
		if (rows == 0) {
			this.jdbc.sql("insert into account (id, balance, token) values (:id, :balance, :token)")
				.paramSource(account)
				.update();
		}
	}

	// as work that takes no notice when it is interrupted
	private static void await(Duration work) {
		long begin = System.nanoTime();
		while (System.nanoTime() - begin < work.toNanos()) {
			LockSupport.parkNanos(work.toNanos() - (System.nanoTime() - begin));
		}
	}

	/**
	 * An account.
	 *
	 * @param id its number
	 * @param balance the sum of the bookings
	 * @param token the token of the latest booking, for whoever looks: it is the guard
	 * that checks it
	 */
	record Account(String id, long balance, long token) {

	}

}
