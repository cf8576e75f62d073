package io.mutex.lab;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * The faults and cases that tests of the library show best, by the names that the
 * documentation gives them.
 */
enum Trial {

	P4("a worker stands still between its check and its effect", "proof.PausedWorkerTests#unfencedWorkerOverwrites",
			"http.FencingClientTests#lostLeaseFailsBeforeAnythingIsSent",
			"http.FencedServletProcessTests#olderTokenIsRefusedHoweverLateItArrives",
			"autoconfigure.FencedHttpTests#overtakenRequestIsRefusedAtItsCommit"),

	P6("the job fills the scheduler of the application",
			"engine.LeaseKeeperTests#leaseIsRenewedEveryThirdByAThreadOfTheEngine",
			"interceptor.OverlapTests#renewalsNeedNoThreadOfTheScheduler"),

	P7("the work holds every connection of the pool",
			"jdbc.OwnTransactionTests#callerWhoHoldsTheOnlyConnectionGetsALock",
			"jdbc.OwnTransactionTests#exhaustedPoolIsNamed",
			"jdbc.LockedRowTests#renewalWaitsForNoConnectionThatAnAcquisitionHas",
			"transaction.GuardedDataSourceTests#onlyConnectionOfAPoolIsEnough",
			"redis.RedisRenewalTests#leasesDoNotWaitForAPoolThatIsInUse"),

	P8("a worker hangs or ends with an error while its lease is renewed",
			"engine.LeaseLossTests#holdThatIsTooLongIsLost",
			"engine.LeaseKeeperTests#renewalStopsWithTheWorkAlsoWhenTheReleaseFails",
			"engine.SettlingTests#errorEndsTheBodyLikeAnException",
			"engine.InterruptTests#interruptFromOutsideSurvivesAndTheKeyIsFree",
			"engine.StageTests#stageThatNeverCompletesIsBoundedByTheLongestHold",
			"status.LongHoldsTests#warnsAndCountsOnceOfEachHoldLongerThanTheInterval"),

	P9("the application is shut down during a run", "engine.DrainTests",
			"autoconfigure.MutexLifecycleTests#shutdownRefusesNewCallsAndLetsRunningOnesEndBeforeTheStoreCloses",
			"autoconfigure.MutexLifecycleTests#shutdownLosesTheLeaseOfACallThatDoesNotEndAndLeavesItToExpire"),

	P10("a process is stopped for a checkpoint, and restored twice",
			"autoconfigure.MutexLifecycleTests#worksAgainAfterAPauseOfTheContext",
			"engine.DrainTests#startAfterADrainWorksAgain", "engine.ValidityTests#clockThatRanFurtherCounts",
			"*#processThatLooksLikeTheHolderIsAnother") {
		@Override
		String lacks() {
			return "no test restores a process from a checkpoint, which needs a JDK with CRaC";
		}
	},

	P11("several contexts or class loaders in one process", "file.FileLossTests#classLoadersShareTheLocks",
			"file.FileSharingTests#readersOfTwoClassLoadersDoNotDropEachOthersLocks",
			"file.FileLossTests#lookingAtAHeldLockDoesNotFreeIt",
			"interceptor.ProxyingTests#secondInstanceOfABeanIsExcluded", "com.example.orders.AlternatingContextsTests"),

	P12("a process dies at each step of a run", "proof.CrashTableTests",
			"proof.KilledTransactionsTests#killedProcesses", "proof.DeathsInDoubtTests",
			"file.FileProcessTests#tokenOfACrashedGrantIsNotUsedAgain",
			"file.LockedFileProcessTests#deathBetweenFenceAndContentLeavesTheOldContent"),

	N3("a client sends a request again after its connection was reset",
			"engine.AcquirerTests#answerThatNeverComesRunsNothing",
			"engine.AcquirerTests#requestThatIsStillUnderWayGrantsNothingLater",
			"engine.AcquirerTests#requestThatIsStillUnderWayGrantsNothingAfterTheNextHolder",
			"redis.RedisFaultTests#lateAcquisitionIsStale", "engine.HandOverTests#nothingIsHandedOverAfterARelease"),

	N6("the answers to renewals are lost", "engine.LeaseLossTests#renewalThatIsAnsweredAfterTheDeadlineRevivesNothing"),

	C2("time zones differ, and summer time ends", "jdbc.ContentionTests#timeZoneOfTheSessionMovesNoTime",
			"jdbc.ContentionTests#timeZoneOfTheProcessMovesNoTime",
			"interceptor.SimulatedClockTests#dayWithoutTheTimeOfTheCron",
			"interceptor.SimulatedClockTests#repeatedHour", "run.PeriodTests",
			"engine.SingleRunTests#unitThatBeginsTomorrowIsRefusedWithTheOffset"),

	C6("the time of the database stands still in an open transaction",
			"jdbc.OwnTransactionTests#stepsArePartOfNoTransactionOfTheCaller",
			"jdbc.OwnTransactionTests#timeGoesOnInAnOpenTransactionOfTheCaller"),

	C5("the wall clock and the monotonic clock disagree, as after a suspension",
			"engine.LeaseLossTests#wallClockSetForwardLosesTheLease",
			"engine.LeaseLossTests#wallClockSetBackDoesNotLengthenTheLease",
			"engine.ValidityTests#clockThatRanFurtherCounts"),

	C7("a clock runs too fast or too slowly", "engine.ValidityTests#driftAndMarginAreLeftOut"),

	R2("a replica that was behind grants a key that is held", "redis.RedisLossTests#guardAcceptsOneOfTwoHolders",
			"redis.RedisFenceGuardTests#earlierAndEqualGrantsAreRefused"),

	R3("a replica that was behind is promoted, whatever WAIT said", "redis.RedisLossTests#staleReplicaHoldsGrantsBack",
			"redis.RedisLossTests#guardAcceptsOneOfTwoHolders", "redis.RedisReplicaTests#everythingGoesToTheMaster"),

	R4("Redis loses its data while its clock is set back",
			"redis.RedisLossTests#clockThatStepsBackIsMadeUpForByTheGuard",
			"engine.GuardTests#grantBelowTheGuardIsGivenBackForOneAboveIt",
			"proof.SeparateStoresTests#lowerTokenIsRaised"),

	R5("Redis evicts keys", "redis.RedisCheckTests#evictionIsWarnedOfOnce", "redis.RedisFaultTests#vanishedLockIsLost",
			"redis.FencedRedisOperationsTests#vanishedGuardRefuses"),

	R6("the memory of Redis is full", "redis.RedisFaultTests#fullMemoryRefusesGrantsOnly",
			"redis.FencedRedisOperationsTests#fullMemoryRefusesWrites"),

	R7("Redis is rolled back to a snapshot", "redis.RedisLossTests#rollBackHoldsGrantsBack"),

	R8("two masters grant one key", "redis.RedisLossTests#guardAcceptsOneOfTwoMasters"),

	R10("the numbers of Lua scripts are doubles", "redis.RedisCommandTests#largeNumbersAreExact",
			"redis.RedisFenceGuardTests#greatTokensAreToldApart",
			"protocol.StoreProtocolTests#tokensEndBelowTwoToThePowerOf53", "AcquireRequestTests#floorIsAToken"),

	R11("keys with braces in a cluster", "redis.RedisKeysTests#allKeysOfALockShareASlot",
			"redis.RedisClusterTests#everyOperationWorks", "redis.RedisClusterTests#fencedWritesWork"),

	J1("PostgreSQL commits asynchronously, and is killed",
			"jdbc.DurabilityTests#postgresThatCommitsAsynchronouslyLosesNothing",
			"jdbc.StoreFindingTests#settingsOfPostgresAreFound"),

	J2("MariaDB flushes lazily, and is killed", "jdbc.DurabilityTests#lazilyFlushedMariaDbGrantsHigherTokens",
			"jdbc.StoreFindingTests#settingsOfMariaDbAreFound"),

	J6("an open transaction has locked the row", "jdbc.LockedRowTests",
			"jdbc.FenceTableTests#registrationDoesNotWaitWithoutEnd",
			"jdbc.TransactionLimitTests#takeOverIsNotBlockedByATransactionThatStopped"),

	J7("a standby that was behind is promoted",
			"jdbc.StandbyTests#promotedStandbyGrantsHigherTokensAndRefusesTheLostHolder"),

	J8("the database is restored from an old copy",
			"jdbc.StandbyTests#restoredCopyGrantsHigherTokensAndRunsAgainWhatItHasForgotten"),

	J9("reading transactions are routed to a replica that is behind",
			"jdbc.StandbyTests#readingTransactionRoutedToAReplicaGrantsNothingFromIt",
			"jdbc.OwnTransactionTests#readOnlyDatabaseIsAFailure"),

	J10("eight ask for one key, at every isolation level", "jdbc.ContentionTests#losersOfANewKeyCauseNoError",
			"jdbc.ContentionTests#aNewKeyHasOneWinnerAlsoWhenTwoAskInOneMicrosecond",
			"jdbc.ContentionTests#newKeysUnderRepeatableRead", "jdbc.ContentionTests#expiredKeyUnderSerializable",
			"*jdbc#aNewKeyIsGrantedToOneOfEightWithoutAnException"),

	J11("a driver counts the rows that it matched, or those that it changed",
			"jdbc.ContentionTests#countOfAffectedRowsProvesNothing"),

	J12("keys differ in case or in an accent only", "*jdbc#keysThatDifferOnlyInCaseAreHeldAtTheSameTime",
			"*jdbc#oddKeysAreDifferentLocksListedIntact", "*jdbc#twoSpellingsOfAnAccentAreTwoKeys"),

	J13("each statement goes to another session, as behind a pooler",
			"jdbc.OwnTransactionTests#anotherConnectionForEveryOperationIsEnough",
			"jdbc.OwnTransactionTests#borrowedConnectionGoesBackAsItCame"),

	J14("lock and transaction on one method, and a slow commit", "autoconfigure.CommitOrderTests",
			"interceptor.AdviceOrderTests#adviceOrderDoesNotDependOnRegistration"),

	J16("a table or a privilege is missing",
			"autoconfigure.MutexAutoConfigurationTests#doesNotStartWithAMissingTableAndPrintsIt",
			"jdbc.JdbcSchemaTests#userWithoutRightsIsToldWhichToGive", "jdbc.JdbcSchemaTests#tableThatComesLaterIsUsed",
			"jdbc.GuardedConnectionTests#guardWithoutItsTableSaysHowToMakeIt",
			"status.ReasonsTests#storeThatFailsIsNoContention"),

	F1("four processes want one lock file", "file.FileProcessTests#fourProcessesExcludeEachOther",
			"file.FileLockProviderTests#oneProcessAtATimeIsInside"),

	F2("a second attempt in the process of the holder", "file.FileLossTests#lookingAtAHeldLockDoesNotFreeIt",
			"file.FileLossTests#lockOfOtherCodeIsLeftAlone"),

	F3("other code opens and closes the lock file", "file.FileLossTests#foreignCloseIsNoticed",
			"file.FileLossTests#completionAfterAForeignCloseIsRefused",
			"file.FileLossTests#lostKeyIsGrantedAgainWithAHigherToken"),

	F4("links, relative paths and names in another case", "file.FileLossTests#everyPathIsTheSameLock",
			"file.LockedFileTests#symbolicLinkLeadsToItsFile",
			"file.FileLockProviderTests#keysThatDifferOnlyInCaseAreHeldAtTheSameTime"),

	F5("two class loaders", "file.FileLossTests#classLoadersShareTheLocks",
			"file.FileSharingTests#readersOfTwoClassLoadersDoNotDropEachOthersLocks"),

	F6("threads are interrupted all the time", "file.FileLossTests#interruptsDoNotFreeTheLock",
			"file.FileLossTests#interruptsFasterThanTheDisk", "file.LockedFileTests#interruptsLoseNothing"),

	F7("the garbage is collected while nobody refers to the lock", "file.FileLossTests#collectorDoesNotFreeTheLock"),

	F8("the lock file is removed", "file.FileLossTests#removedFileIsNoticed",
			"file.LockedFileTests#removedLockFileIsNoticed", "file.FileSharingTests#removedLockFileLosesTheReaders"),

	F9("the directory is removed, read-only or closed to the process",
			"file.FileDirectoryTests#removedDirectoryIsMadeAgain",
			"file.FileDirectoryTests#readOnlyFileSystemIsRefused",
			"file.FileDirectoryTests#directoryIsCreatedForItsOwnerAlone",
			"file.LockedFileTests#readOnlyDirectoryIsRefused"),

	F11("a child process outlives the holder", "file.FileProcessTests#childOfTheHolderDoesNotKeepTheLock"),

	F12("the disk is full, of data or of files", "file.FileProcessTests#fullDiskFailsClosed",
			"file.LockedFileTests#fullDiskChangesNothing"),

	F13("a process has no file handles left", "file.FileProcessTests#missingFileHandlesAreAnError"),

	F14("the disk fails to flush", "file.FileStateTests#failedFlushFailsTheAcquisition",
			"file.FileStateTests#recordThatDidNotReachTheDiskIsWrittenAgain",
			"file.FileForeignTests#flushThatTheKernelFailsGrantsNothing"),

	F15("the file with the token is torn, empty or garbage", "file.FileStateTests#damagedStateFailsClosed",
			"file.LockedFileTests#damagedFenceRefusesEverybody"),

	F16("a process dies between the stored token and the grant",
			"file.FileProcessTests#tokenOfACrashedGrantIsNotUsedAgain"),

	F17("programs in other languages lock the file", "file.FileForeignTests#recordLocksOfOtherProgramsExclude"),

	F18("two processes want the locks of each other", "file.FileProcessTests#crossedKeysAreRefused"),

	F19("names that are no file names", "file.FileStateTests#oddKeysStayInTheDirectory",
			"file.FileLockProviderTests#oddKeysAreDifferentLocksListedIntact"),

	F20("a thousand listings in the process of the holder", "file.FileLossTests#lookingAtAHeldLockDoesNotFreeIt",
			"file.FileLockProviderTests#listingAThousandTimesChangesNothing"),

	S1("a unit is done while another instance waits for its key", "*#waiterThatGetsTheKeyFindsTheUnitDone",
			"jdbc.RecordRaceTests", "proof.SimultaneousStartTests#oneOfThemRuns",
			"model.LockModelTests#findsWhatGoesWrongWithoutARule"),

	S2("a process dies between its effect and its record", "proof.CrashTableTests",
			"proof.KilledTransactionsTests#killedProcesses", "proof.DeathsInDoubtTests"),

	S3("the key is released before the record is written", "*#completionFreesTheKeyForAnotherUnitInTheSameStep",
			"jdbc.StatementCountTests#outcomeIsOneStatementWhereTheDatabaseCanDoIt",
			"redis.RedisCommandTests#eachOperationIsOneScriptByItsDigest",
			"file.FileStateTests#eachStepFlushesOneFileAndItsDirectory"),

	S4("the record cannot be written", "proof.StoreOutageTests",
			"engine.SettlingTests#storeThatIsDownAtTheEndIsSaidPlainly", "file.FileProcessTests#fullDiskFailsClosed"),

	S5("the body throws", "*#failedRunLeavesTheUnitOpenAndSaysWhy",
			"*#attemptIsGrantedOnlyAfterTheOneBeforeAndInItsTime",
			"interceptor.RunRepeaterTests#failedRunDoesNotUseUpThePeriod",
			"proof.TemplateTests#failureLeavesTheUnitOpen"),

	S6("a run goes on beyond its period",
			"interceptor.SimulatedClockTests#runThatCrossesTheBoundaryBelongsToItsBeginning",
			"interceptor.OverlapTests#firingsThatWaitFindTheUnitDone"),

	S7("instances disagree on the day",
			"interceptor.SimulatedClockTests#clocksThirtySecondsApartMakeOneRunPerTickOnRealStores",
			"interceptor.SimulatedClockTests#clockThatJumpsForwardAndBack",
			"engine.SingleRunTests#unitThatBeginsTomorrowIsRefusedWithTheOffset",
			"*#unitThatBeginsInTheFutureOfTheStoreIsTooEarly"),

	S8("the work goes on after its method has returned", "engine.StageTests",
			"interceptor.ReturnTypeTests#futureHoldsTheKeyUntilItCompletes",
			"interceptor.ReturnTypeTests#unobservableResultIsRefused",
			"interceptor.ReturnTypeTests#suspendingFunctionIsRefused",
			"proof.TemplateTests#recordOfAStageIsWrittenWhenItCompletes"),

	S9("a bean calls its own method past the proxy", "interceptor.ProxyingTests#selfInvocationIsFoundByTheGuard"),

	S10("a call within a call of the same key", "engine.ReentranceTests"),

	S11("Redis loses the record of a run", "redis.RedisLossTests#unitWhoseRecordWasLostRunsAgain"),

	S12("a thousand listings while a job runs", "*#listingAThousandTimesChangesNothing",
			"file.FileLossTests#lookingAtAHeldLockDoesNotFreeIt",
			"actuate.endpoint.SingleRunsEndpointTests#changesNothingByShowing");

	private static final String ROOT = "io.mutex.";

	private static final String EVERY_STORE = "*#";

	private static final String EVERY_DATABASE = "*jdbc#";

	private final String title;

	@SuppressWarnings("ImmutableEnumChecker")
	private final List<String> selectors;

	/**
	 * A trial.
	 * @param title what happens
	 * @param tests what shows that it does no harm: classes below the root of the
	 * library, or a method of one; of the contract of the providers, a method on every
	 * store or on every database
	 */
	Trial(String title, String... tests) {
		this.title = title;
		this.selectors = Arrays.stream(tests).flatMap(Trial::selectors).distinct().toList();
	}

	private static Stream<String> selectors(String test) {
		String method = test.substring(test.indexOf('#') + 1);
		if (test.startsWith(EVERY_STORE)) {
			return Stream.of("file.File", "jdbc.PostgreSql", "jdbc.MariaDb", "redis.Lettuce")
				.map((store) -> ROOT + store + "LockProviderTests#" + method);
		}
		if (test.startsWith(EVERY_DATABASE)) {
			return Stream.of("H2", "PostgreSql", "MariaDb", "MySql")
				.map((database) -> ROOT + "jdbc." + database + "LockProviderTests#" + method);
		}
		return Stream.of(test.startsWith("com.") ? test : ROOT + test);
	}

	String title() {
		return this.title;
	}

	/**
	 * What no test shows.
	 * @return the reason, empty if everything is shown
	 */
	String lacks() {
		return "";
	}

	List<String> selectors() {
		return this.selectors;
	}

}
