package io.mutex.lab.baselines;

import java.util.List;
import java.util.Objects;
import java.util.function.LongConsumer;

import io.mutex.FencingToken;
import io.mutex.Lease;
import io.mutex.StaleFencingTokenException;
import io.mutex.lab.Entry;
import io.mutex.lab.Ledger;

import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * A ledger that compares tokens as the documentation of Redisson says: the statement that
 * writes refuses a token below the one before it.
 */
final class TokenLedger {

	private static final RedisScript<Long> WRITE = RedisScript.of("""
			local last = tonumber(redis.call('GET', KEYS[2]) or '0')
			if tonumber(ARGV[2]) < last then
				return last
			end
			redis.call('SET', KEYS[1], ARGV[1])
			redis.call('SET', KEYS[2], ARGV[2])
			return -1
			""", Long.class);

	private TokenLedger() {
	}

	static Ledger redis(Ledger plain, StringRedisTemplate redis) {
		return new Ledger() {

			@Override
			public void add(Lease lease, LongConsumer reading) {
				String data = "lab:ledger:" + lease.key();
				String text = Objects.requireNonNullElse(redis.opsForValue().get(data), "");
				long next = text.lines().count() + 1;
				reading.accept(next);
				Entry entry = new Entry(lease.key(), next, lease.token().value(), lease.nonce());
				Long last = redis.execute(WRITE, List.of(data, "lab:token:" + lease.key()), text + entry.format(),
						Long.toString(lease.token().value()));
				refuse(lease, (last != null) ? last : -1);
			}

			@Override
			public List<Entry> entries(String key) {
				return plain.entries(key);
			}

		};
	}

	static Ledger sql(Ledger plain, JdbcTemplate jdbc, PlatformTransactionManager manager) {
		Tables
			.create(() -> jdbc.execute("ALTER TABLE account ADD COLUMN IF NOT EXISTS token bigint NOT NULL DEFAULT 0"));
		TransactionTemplate transactions = new TransactionTemplate(manager);
		return new Ledger() {

			@Override
			public void add(Lease lease, LongConsumer reading) {
				transactions.executeWithoutResult((status) -> {
					long next = 1 + Objects.requireNonNull(
							jdbc.queryForObject("SELECT balance FROM account WHERE id = ?", Long.class, lease.key()));
					reading.accept(next);
					long token = lease.token().value();
					int updated = jdbc.update("UPDATE account SET balance = ?, token = ? WHERE id = ? AND token <= ?",
							next, token, lease.key(), token);
					refuse(lease, (updated == 1) ? -1 : 0);
					jdbc.update("INSERT INTO booking (account, balance, token, nonce) VALUES (?, ?, ?, ?)", lease.key(),
							next, token, lease.nonce());
				});
			}

			@Override
			public List<Entry> entries(String key) {
				return plain.entries(key);
			}

		};
	}

	private static void refuse(Lease lease, long last) {
		if (last >= 0) {
			throw new StaleFencingTokenException(lease.key(), lease.token(), new FencingToken(last));
		}
	}

}
