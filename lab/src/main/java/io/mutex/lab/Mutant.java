package io.mutex.lab;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/**
 * The faults that a lock could have, each made in a copy of the library, and what has to
 * find it.
 */
enum Mutant {

	RELEASE_WITHOUT_NONCE("a release does not compare the nonce",
			Mutation.in("redis/release.lua")
				.replace("if row.nonce == nonce and row.expires > 0 then", "if row.expires > 0 then"),
			Finder.in(Scenario.N2, Provider.REDIS)),

	CLIENT_CLOCK("the clock of the client decides whether a lease has ended",
			Mutation.in("jdbc/JdbcLockProvider.java")
				.replace("seen.shared(), seen.run(), request, seen.now());",
						"seen.shared(), seen.run(), request, System.currentTimeMillis() * 1000);"),
			Finder.in(Scenario.C1, Provider.POSTGRESQL)),

	DEADLINE_FROM_ANSWER("the deadline is counted from the answer",
			Mutation.in("engine/Asker.java")
				.replace("return answer(acquisition, nonce, sent,",
						"return answer(acquisition, nonce, Validity.sentNow(this.time, question.ttl()),"),
			Finder.of("engine.AcquirerTests#answerThatArrivesAfterTheLeaseRunsNothing")),

	NO_REGISTRATION("a guard learns of a grant by its first write, not before its work",
			Mutation.in("engine/Guards.java").replace("policy.mode() == FencingPolicy.Mode.STRICT;", "false;"),
			Finder.of("engine.GuardTests#eachGrantIsRegisteredBeforeItsWork")),

	UNFENCED("no write is checked",
			Mutation.in("engine/Guards.java")
				.replace("if (policy.mode() == FencingPolicy.Mode.NONE) {", "if (policy.mode() != null) {"),
			Finder.in(Scenario.P2, Provider.POSTGRESQL)),

	SPLIT("each process has locks of its own", Mutation.in("jdbc/JdbcLockProvider.java")
		.replace("= requireNamespace(namespace);", "= requireNamespace(namespace + ProcessHandle.current().pid());"),
			Finder.in(Scenario.P1, Provider.POSTGRESQL)),

	EQUAL_TOKEN("an equal token is accepted without comparing the nonce",
			Mutation.in("redis/fence.lua")
				.replace("if token == accepted and row[3] == ARGV[3] then", "if token == accepted then"),
			Finder.of("redis.RedisFenceGuardTests#earlierAndEqualGrantsAreRefused")),

	ASYNCHRONOUS_COMMIT("a grant is not committed durably",
			Mutation.in("jdbc/PostgresFastPath.java")
				.replace("RETURNING l.token, \" + DURABLE + \")\"", "RETURNING l.token)\""),
			Finder.of("jdbc.DurabilityTests#postgresThatCommitsAsynchronouslyLosesNothing")),

	FILE_UNLINKED("a release removes the lock file",
			Mutation.in("file/FileReleaser.java")
				.replace("if (transition.answer() == Settlement.SETTLED) {\n\t\t\tthis.locks.drop(held);",
						"if (transition.answer() == Settlement.SETTLED) {\n\t\t\tthis.locks.drop(held);\n"
								+ "java.nio.file.Files.delete(files.lock());"),
			Finder.of("file.FileKeyTests#lockFileIsEmptyAndStaysAfterTheRelease")),

	CHANNEL_CLOSED("a second channel is opened on a held lock file, and closed",
			Mutation.in("file/FileReleaser.java")
				.replace("HeldFile other = this.locks.held(identity.text());",
						"java.nio.channels.FileChannel.open(files.lock()).close();\n"
								+ "HeldFile other = this.locks.held(identity.text());"),
			Finder.of("file.FileLossTests#lookingAtAHeldLockDoesNotFreeIt")),

	LOSING_CHANNEL_CLOSED("an attempt that loses inside its process closes its channel",
			Mutation.in("file/LockFile.java").replace("locks.park(identity, channel);", "channel.close();"),
			Finder.of("file.FileLossTests#lockOfOtherCodeIsLeftAlone")),

	RECORD_BEFORE_LOCK("the record is looked up before the row is had", Mutation.in("jdbc/PostgresFastPath.java")
		.replace("WHERE coalesce(c.expires_at, 0) <= c.now AND (coalesce(c.expires_at, 0) = 0 OR c.unit IS NULL)",
				"WHERE true")
		.replace("\" WHERE l.version = excluded.version - 1\"", "\" WHERE l.expires_at <= @@now@@\""),
			Finder.of("jdbc.RecordRaceTests#unitThatSucceedsWhileItsRowIsWaitedForIsDone[2]")),

	RELEASE_BEFORE_RECORD("the key is released before the record is written",
			Mutation.in("jdbc/PostgresFastPath.java")
				.replace("(UPDATE @@lock@@ SET version = version + 1, expires_at = 0\"",
						"(UPDATE @@lock@@ SET version = version + 1\"")
				.replace("nonce = ? AND token = ? AND unit = ?\"", "(nonce = ? OR token >= ?) AND unit = ?\"")
				.replace("\" AND expires_at > 0 AND \" + LOCK_TIMEOUT", "\" AND \" + LOCK_TIMEOUT")
				.replace("return loudly(connection, this.settle,",
						"release(connection, grant.key(), grant.nonce(), false);\n"
								+ "return loudly(connection, this.settle,"),
			Finder.of("jdbc.RecordRaceTests#recordAndReleaseAreOneStep[2]")),

	RENEWAL_ON_APPLICATION_POOL("renewals wait for the connections of the application",
			Mutation.in("jdbc/ConnectionSource.java").replace("withPoolSize(1)", "withPoolSize(0)"),
			Finder.of("jdbc.OwnTransactionTests#callerWhoHoldsTheOnlyConnectionGetsALock")),

	RENEWAL_AFTER_RELEASE("a lease whose release failed is renewed for ever",
			Mutation.in("engine/Settler.java")
				.replace("logger.error(\"The {} store did not", "lease.resume();\nlogger.error(\"The {} store did not")
				.replace("this.keeper.forget(lease);", "if (!lease.isHeld()) {\nthis.keeper.forget(lease);\n}"),
			Finder.of("engine.LeaseKeeperTests#renewalStopsWithTheWorkAlsoWhenTheReleaseFails")),

	CHECK_ONLY_LOCKS("the check of a transaction locks the row of the key and leaves it as it is",
			Mutation.in("jdbc/TransactionalCompletion.java")
				.replace(".text(PostgresFastPath.SETTLE\n",
						".text(PostgresFastPath.SETTLE.replace(\"UPDATE @@lock@@ SET version = version + 1,"
								+ " expires_at = 0\", \"SELECT * FROM @@lock@@\").replace(\" RETURNING namespace,"
								+ " lock_key, unit, token, nonce, owner_info, attempt, acquired_at, kept_until, \""
								+ " + PostgresFastPath.DURABLE, \" AND \" + TransactionLimits.POSTGRES_IDLE"
								+ " + \" IS NOT NULL FOR UPDATE\")\n"),
			Finder.of("transaction.OwnTransactionRecordTests#recordIsCommittedWithTheWork[1]")),

	CHECK_KEEPS_VERSION("the check of a transaction keeps the version that an acquisition compares",
			Mutation.in("jdbc/TransactionalCompletion.java")
				.replace(".text(PostgresFastPath.SETTLE\n",
						".text(PostgresFastPath.SETTLE.replace(\"version = version + 1, \", \"\")\n"),
			Finder.of("jdbc.RecordRaceTests#unitThatATransactionRecordsWhileItsRowIsWaitedForIsDone[2]")),

	CHECK_ONLY_READS("the check of a transaction only reads the row of the key",
			Mutation.in("jdbc/OwnerCheck.java")
				.replace("return this.update.run(connection, remaining,\n\t\t\t\t(binder) -> "
						+ "binder.texts(this.namespace, fence.key(), fence.nonce()).number(fence.token().value()));",
						"return latest(connection, fence.key()) == fence.token().value();"),
			Finder.of("jdbc.LockRowGuardTests#takeOverIsHeldWhileAConfirmedTransactionIsOpen[2]")),

	CHECK_RELEASES("the check of a guarded transaction releases the key",
			Mutation.in("jdbc/OwnerCheck.java")
				.replace("SET version = version + 1 WHERE", "SET version = version + 1, expires_at = 0 WHERE"),
			Finder.in(Scenario.N2, Provider.POSTGRESQL)),

	RELEASE_REMOVES_DOUBT("the release of a run that was skipped for its doubt removes the doubt",
			Mutation.in("protocol/StoreProtocol.java")
				.replace("lock.released(), began ? doubtOf(lock, now) : null);",
						"lock.released(), began ? doubtOf(lock, now) : null, began ? null : lock.unit(), null);"),
			Finder.of("memory.MemoryLockProviderTests#doubtSurvivesASkip")),

	SKIP_REMOVES_DOUBT("a run that is skipped for its doubt is settled like one that was done",
			Mutation.in("engine/ProtectedCall.java")
				.replace("granted.doubt() != null) {\n\t\t\tthis.settler.released(lease, false);",
						"granted.doubt() != null) {\n\t\t\tthis.settler.succeeded(lease);"),
			Finder.of("engine.SingleRunTests#unitInDoubtIsReportedAndKeepsItsDoubt")),

	RELEASE_WITHOUT_BEGUN("a release does not tell a run that began from one that did not",
			Mutation.in("protocol/StoreProtocol.java")
				.replace("lock.released(), began ? doubtOf(lock, now) : null);",
						"lock.released(), doubtOf(lock, now));"),
			Finder.of("memory.MemoryLockProviderTests#releaseBeforeTheBodyOfAFirstAttemptLeavesNothing")),

	ATTEMPT_BEFORE_NONCE("an acquisition asks for the attempt before it recognises its own nonce", Mutation
		.in("protocol/StoreProtocol.java")
		.replace("if (refusal == null && lock != null) {\n\t\t\trefusal = answerByNonce",
				"if (refusal == null && unit != null) {\nrefusal = refuseAttempt(lock, run, request, unit, now);\n}\n"
						+ "if (refusal == null && lock != null) {\nrefusal = answerByNonce"),
			Finder.of("memory.MemoryLockProviderTests#theFirstAnswerThatHoldsIsGiven")),

	LOCKED_ROW_IS_LOSS("a renewal takes a locked row for a lost lease",
			Mutation.in("jdbc/PostgresFastPath.java")
				.replace("rows.getBoolean(3) ? Renewal.BUSY : Renewal.LOST;", "Renewal.LOST;"),
			Finder.of("jdbc.LockedRowTests#renewalOfALockedRowIsBusyAndTheOthersAreRenewed[2]")),

	COMPLETION_AFTER_LOSS("a completion is sent after the loss of the lease",
			Mutation.in("engine/Settler.java")
				.replace("if (!lease.end()) {\n\t\t\t\t\tfree(lease);", "if (!lease.end()) {\nsettlement.get();"),
			Finder.of("engine.LeaseLossTests#lostLeaseIsNeverRecordedAndLeavesTheDoubt")),

	LATE_INTERRUPT("the interrupt of a loss arrives after the body has left",
			Mutation.in("engine/HeldLease.java").replace("this.worker = null;\n", "\n"),
			Finder.of("engine.InterruptTests#lossAndTheEndOfTheFrameExcludeEachOther")),

	RELEASE_AT_DRAIN("what still runs at the end of the drain time is released",
			Mutation.in("engine/LeaseKeeper.java")
				.replace("if (lease.abandon(reason, true)) {",
						"if (lease.abandon(reason, true)) {\n"
								+ "this.provider.release(lease.key(), lease.nonce(), true);"),
			Finder.of("engine.DrainTests#whatOutlastsTheDrainIsLostAndNothingIsSentForIt"));

	private final String title;

	@SuppressWarnings("ImmutableEnumChecker")
	private final Mutation mutation;

	@SuppressWarnings("ImmutableEnumChecker")
	private final Finder finder;

	Mutant(String title, Mutation mutation, Finder finder) {
		this.title = title;
		this.mutation = mutation;
		this.finder = finder;
	}

	String title() {
		return this.title;
	}

	Mutation mutation() {
		return this.mutation;
	}

	Finder finder() {
		return this.finder;
	}

	/**
	 * Makes the change.
	 * @return the directory of the changed classes or resources
	 * @throws IOException if a file cannot be read or written
	 */
	Path build() throws IOException {
		try {
			return this.mutation.build();
		}
		catch (IllegalStateException ex) {
			throw new IllegalStateException("mutant " + this + " no longer fits: " + ex.getMessage(), ex);
		}
	}

	/**
	 * What has to find a mutant: the invariants of some scenarios, or tests of the
	 * library.
	 *
	 * @param scenarios the scenarios
	 * @param provider where they are played
	 * @param tests the tests, as {@link TestRun} selects them
	 */
	record Finder(List<Scenario> scenarios, Provider provider, List<String> tests) {

		private static final String ROOT = "io.mutex.";

		static Finder in(Scenario scenario, Provider provider) {
			return new Finder(List.of(scenario), provider, List.of());
		}

		static Finder of(String... tests) {
			return new Finder(List.of(), Provider.FILE, Arrays.stream(tests).map((test) -> ROOT + test).toList());
		}

	}

}
