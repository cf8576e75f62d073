package io.mutex;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;

import io.mutex.Acquisition.Granted;
import io.mutex.Acquisition.Held;
import io.mutex.LockProvider.Renewal;
import io.mutex.LockProvider.Settlement;
import io.mutex.run.Owner;
import io.mutex.run.RunRecord;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The part of the contract about keys, namespaces and what a listing shows.
 */
abstract class ListingContract extends RetentionContract {

	private static final List<String> ODD_KEYS = List.of("job", "Job", "JOB", "caf\u00e9", "cafe\u0301", "a/b",
			"../../etc/passwd", "..", ".", "/", "\\", "a\\b", "{braces}", "{", "}", "}{", "{}", "%", "%2F", "a%b", "_",
			"a_b", "#{#id}", "#", "it's", "\"quoted\"", "`", "; DROP TABLE mutex_lock; --", "a:b", "a b", "a  b", "*",
			"?", "[a-z]", "$1", "${x}", "~", "-", "--", "a|b", "a,b", "a=b&c", "<b>", "NUL", "null", "0", "00", "1e3",
			"\ud83d\ude00", "\ud83d\ude00\ud83d\ude01", "\u00df", "ss", "\u0131", "i", "I", "\u0130", "\u65e5\u5831-1",
			"\ufb01", "fi", "a\u200bb", "ab", "a\u00a0b", "\uff21", "A", "x".repeat(200), "x".repeat(199) + "y",
			"\u65e5".repeat(200), "\u65e5".repeat(199) + "\u672c", "\ud83d\ude00".repeat(100));

	@Test
	@DisplayName("C29 C30 C31 odd, long, non-ASCII and nearly equal keys are different locks, listed intact")
	void oddKeysAreDifferentLocksListedIntact() throws Exception {
		LockProvider here = open("odd-" + this.namespace);
		LockProvider there = open("odd-" + this.namespace);
		List<Holding> holdings = ODD_KEYS.stream().map((key) -> take(here, Ask.of(key).unit(key))).toList();
		assertThat(there.locks(1000)).extracting(HeldLock::key).containsExactlyInAnyOrderElementsOf(ODD_KEYS);
		for (Holding holding : holdings) {
			assertThat(there.lock(holding.key())).hasValueSatisfying((lock) -> {
				assertThat(lock.key()).isEqualTo(holding.key());
				assertThat(lock.name()).isEqualTo(holding.request().name());
				assertThat(lock.nonce()).isEqualTo(holding.nonce());
				assertThat(lock.unit()).isEqualTo(holding.key());
			});
			assertThat(here.complete(holding.grant(), holding.key())).isEqualTo(Settlement.SETTLED);
			assertThat(there.lock(holding.key())).isEmpty();
			assertThat(there.runs(holding.key(), 10)).singleElement()
				.satisfies((run) -> assertThat(run.key()).isEqualTo(holding.key()));
		}
		assertThat(there.locks(1000)).isEmpty();
	}

	@Test
	@DisplayName("C31 keys that differ only in case are held at the same time")
	void keysThatDifferOnlyInCaseAreHeldAtTheSameTime() {
		String key = newKey();
		Holding lower = take(Ask.of(key + "-aB"));
		Holding upper = take(other(), Ask.of(key + "-Ab"));
		assertHeldBy(lower);
		assertHeldBy(upper);
	}

	@Test
	@DisplayName("C30 the two spellings of an accent are two keys")
	void twoSpellingsOfAnAccentAreTwoKeys() {
		String key = newKey();
		Holding composed = take(Ask.of(key + "\u00e9"));
		Holding decomposed = take(other(), Ask.of(key + "e\u0301"));
		assertHeldBy(composed);
		assertHeldBy(decomposed);
	}

	@Test
	@DisplayName("C34 two namespaces share neither lock nor record nor token")
	void namespacesDoNotSeeEachOther() throws Exception {
		long far = 4_000_000_000_000_000L;
		LockProvider staging = open("staging-" + this.namespace);
		List<LockProvider> others = List.of(open("Staging-" + this.namespace), open("staging-" + this.namespace + "-b"),
				open("staging-" + this.namespace + ":job"), open("production-" + this.namespace));
		Holding first = take(staging, Ask.of("job:report").unit("u").floor(far));
		assertThat(staging.complete(first.grant(), "u")).isEqualTo(Settlement.SETTLED);
		Holding second = take(staging, Ask.of("job:report").floor(far));
		for (LockProvider other : others) {
			for (String key : List.of("job:report", "report")) {
				assertThat(other.lock(key)).isEmpty();
				assertThat(other.runs(key, 10)).isEmpty();
				assertThat(other.release(key, second.nonce(), true)).isEqualTo(Settlement.NOT_OWNER);
				assertThat(other.renew(List.of(second.grant()))).containsExactly(Renewal.LOST);
				Holding own = take(other, Ask.of(key).unit("u"));
				assertThat(own.token()).isLessThan(far);
				assertThat(other.complete(own.grant(), "u")).isEqualTo(Settlement.SETTLED);
			}
			assertThat(other.locks(10)).isEmpty();
		}
		assertThat(staging.locks(10)).extracting(HeldLock::nonce).containsExactly(second.nonce());
		assertThat(staging.renew(List.of(second.grant()))).containsExactly(Renewal.RENEWED);
		assertThat(staging.runs("job:report", 10)).extracting(RunRecord::token).containsExactly(first.token());
	}

	@Test
	void lockIsShownWithAllThatIsKnownOfIt() {
		Owner owner = new Owner("pod'1\" {é日😀}", "host", 4_194_304L, "scheduling-1 # %");
		AcquireRequest request = new AcquireRequest(newKey(), "daily-#{#id}-日報 '", Ask.newNonce(), owner,
				Duration.ofSeconds(30), 0, Ask.of("k").unit("2026-11-29").request().unit(), 0, 3);
		Instant before = Instant.now();
		Granted granted = (Granted) provider().acquire(request);
		HeldLock lock = other().lock(request.key()).orElseThrow();
		assertThat(lock.key()).isEqualTo(request.key());
		assertThat(lock.name()).isEqualTo(request.name());
		assertThat(lock.owner()).isEqualTo(owner);
		assertThat(lock.nonce()).isEqualTo(request.nonce());
		assertThat(lock.token()).isEqualTo(granted.token());
		assertThat(lock.unit()).isEqualTo("2026-11-29");
		assertThat(lock.acquiredAt()).isBetween(before.minusSeconds(60), Instant.now().plusSeconds(60));
		assertThat(lock.heldFor()).isBetween(Duration.ZERO, Duration.ofMinutes(1));
		if (provider().expires()) {
			assertThat(lock.expiresAt()).isBetween(lock.acquiredAt().plusSeconds(29),
					lock.acquiredAt().plusSeconds(31));
		}
		else {
			assertThat(lock.expiresAt()).isNull();
		}
		assertThat(ask(Ask.of(request.key()))).isInstanceOfSatisfying(Held.class,
				(held) -> assertThat(held.holder()).isEqualTo(owner));
	}

	@Test
	void declaredTextMayBeOfAnyLengthAndContent() {
		String declared = "日報 😀 '\"%\\ \0 \n #{#order.customer} ".repeat(30);
		AcquireRequest plain = Ask.of(newKey()).request();
		AcquireRequest request = new AcquireRequest(plain.key(), declared, plain.nonce(), plain.owner(), plain.ttl(), 0,
				null, 0, 1);
		assertThat(provider().acquire(request)).isInstanceOf(Granted.class);
		assertThat(other().lock(plain.key())).hasValueSatisfying(
				(lock) -> assertThat(lock.name()).isEqualTo(request.name()).startsWith("日報 😀 '\"%\\   "));
	}

	@Test
	void listingHoldsOnlyWhatIsHeldInTheOrderOfTheKeysAndBounded() throws Exception {
		LockProvider here = open("list-" + this.namespace);
		for (String key : List.of("b", "B", "a:2", "a", "é", "z", "日", "a:10")) {
			take(here, Ask.of(key));
		}
		Holding released = take(here, Ask.of("released"));
		here.release(released.key(), released.nonce(), true);
		if (here.expires()) {
			take(here, Ask.of("expired").ttl(SHORT));
			Awaitility.await().atMost(PATIENCE).until(() -> here.lock("expired").isEmpty());
		}
		here.release("never-held", Ask.newNonce(), false);
		assertThat(here.locks(100)).extracting(HeldLock::key)
			.containsExactly("B", "a", "a:10", "a:2", "b", "z", "é", "日");
		assertThat(here.locks(3)).extracting(HeldLock::key).containsExactly("B", "a", "a:10");
	}

	@Test
	void listingAThousandTimesChangesNothing() {
		Holding done = done(newKey(), "u1");
		Holding holding = take(Ask.of(done.key()).unit("u2"));
		HeldLock before = ageless(provider().lock(done.key()).orElseThrow());
		List<RunRecord> runs = provider().runs(done.key(), 10);
		for (int i = 0; i < 1000; i++) {
			LockProvider lister = (i % 2 == 0) ? provider() : other();
			assertThat(ageless(lister.lock(done.key()).orElseThrow())).isEqualTo(before);
			assertThat(lister.locks(1000)).extracting(HeldLock::nonce).contains(holding.nonce());
			assertThat(lister.runs(done.key(), 10)).isEqualTo(runs);
			if (i % 20 == 0) {
				lister.check();
				assertThat(ask(Ask.of(done.key()))).isInstanceOf(Held.class);
			}
		}
		assertHeldBy(holding);
		assertThat(provider().complete(holding.grant(), "u2")).isEqualTo(Settlement.SETTLED);
	}

	@Test
	void keysThatNobodyHasUsedAreNotThere() {
		assertThat(Stream.of("new-a", "new-b")).allSatisfy((key) -> {
			assertThat(provider().lock(key)).isEmpty();
			assertThat(provider().runs(key, 1)).isEmpty();
		});
		assertThat(provider().name()).isNotBlank();
	}

	private static HeldLock ageless(HeldLock lock) {
		return new HeldLock(lock.key(), lock.name(), lock.owner(), lock.nonce(), lock.token(), lock.unit(),
				lock.acquiredAt(), lock.expiresAt(), Duration.ZERO);
	}

}
