package io.mutex.file;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import io.mutex.Acquisition;
import io.mutex.HeldLock;
import io.mutex.LockProvider.ForcedRelease;
import io.mutex.LockProvider.Grant;
import io.mutex.LockProvider.Renewal;
import io.mutex.LockProvider.Settlement;
import io.mutex.run.RunRecord;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link FileLockProvider} in one process.
 */
class FileKeyTests {

	@TempDir(factory = MemoryDirectory.class)
	@SuppressWarnings("NullAway.Init")
	private Path directory;

	@SuppressWarnings("NullAway.Init")
	private FileLockProvider provider;

	@BeforeEach
	void createProvider() {
		this.provider = FileFixture.provider(this.directory);
	}

	@Test
	void leasesHaveNoDeadlineAndAreLookedAfterTwiceASecond() {
		assertThat(this.provider.expires()).isFalse();
		assertThat(this.provider.renewalInterval(Duration.ofMinutes(2))).isEqualTo(Duration.ofMillis(500));
		assertThat(this.provider.renewalInterval(Duration.ofSeconds(1))).isLessThan(Duration.ofMillis(500));
		Grant grant = FileFixture.grant(this.provider, "job");
		assertThat(this.provider.lock("job").map(HeldLock::expiresAt)).isEmpty();
		assertThat(this.provider.lock("job").map(HeldLock::nonce)).contains(grant.nonce());
		this.provider.release("job", grant.nonce(), true);
	}

	@Test
	void lockFileIsEmptyAndStaysAfterTheRelease() {
		Grant grant = FileFixture.grant(this.provider, "job");
		Path lock = FileFixture.files(this.directory, "job").lock();
		assertThat(lock).isEmptyFile();
		assertThat(this.provider.release("job", grant.nonce(), true)).isEqualTo(Settlement.SETTLED);
		assertThat(lock).isEmptyFile();
	}

	@Test
	void doneUnitsBeyondThoseOfTheStateFileAreFound() {
		int units = 3 * StoredState.MAX_RUNS;
		for (int i = 0; i < units; i++) {
			Grant grant = FileFixture.grant(this.provider, "job", "unit-" + i);
			assertThat(this.provider.complete(grant, "unit-" + i)).isEqualTo(Settlement.SETTLED);
		}
		for (int i = 0; i < units; i++) {
			assertThat(this.provider.acquire(FileFixture.request("job", FileFixture.nonce(), "unit-" + i)))
				.isInstanceOf(Acquisition.Done.class);
		}
		List<RunRecord> runs = this.provider.runs("job", 100);
		assertThat(runs).hasSize(units).extracting(RunRecord::unit).startsWith("unit-47", "unit-46").endsWith("unit-0");
		assertThat(this.provider.runs("job", 20)).isEqualTo(runs.subList(0, 20));
	}

	@Test
	void forcedReleaseInTheOwnProcessLeavesNothingToTheFormerHolder() {
		Grant former = FileFixture.grant(this.provider, "job", "today");
		ForcedRelease released = this.provider.forceRelease("job");
		assertThat(released.result()).isEqualTo(ForcedRelease.Result.RELEASED);
		assertThat(this.provider.renew(List.of(former))).containsExactly(Renewal.LOST);
		assertThat(this.provider.complete(former, "today")).isEqualTo(Settlement.NOT_OWNER);
		Grant next = FileFixture.grant(this.provider, "job", "today");
		assertThat(next.token()).isGreaterThan(former.token() + 1);
		assertThat(this.provider.release("job", former.nonce(), true)).isEqualTo(Settlement.NOT_OWNER);
		assertThat(this.provider.renew(List.of(next))).containsExactly(Renewal.RENEWED);
		assertThat(this.provider.complete(next, "today")).isEqualTo(Settlement.SETTLED);
	}

	@Test
	void keyThatNobodyHoldsIsNotListed() throws Exception {
		assertThat(this.provider.locks(10)).isEmpty();
		assertThat(this.provider.lock("job")).isEmpty();
		assertThat(this.provider.runs("job", 10)).isEmpty();
		assertThat(Files.list(this.directory)).isEmpty();
		assertThat(this.provider.forceRelease("job").result()).isEqualTo(ForcedRelease.Result.NOT_HELD);
	}

}
