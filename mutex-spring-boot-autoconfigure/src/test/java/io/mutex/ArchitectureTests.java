package io.mutex;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.syntax.ArchRuleDefinition;
import com.tngtech.archunit.library.dependencies.SlicesRuleDefinition;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The arrows between the packages.
 */
class ArchitectureTests {

	private static final JavaClasses main = new ClassFileImporter()
		.withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
		.importPackages("io.mutex");

	private static final String[] PROVIDERS = { "file", "jdbc", "redis", "memory" };

	@Test
	void everyPackageIsLookedAt() {
		assertThat(main.stream().map((type) -> type.getPackageName()).distinct()).contains("io.mutex",
				"io.mutex.actuate.endpoint", "io.mutex.annotation", "io.mutex.autoconfigure", "io.mutex.engine",
				"io.mutex.file", "io.mutex.health", "io.mutex.http", "io.mutex.interceptor", "io.mutex.jdbc",
				"io.mutex.memory", "io.mutex.metrics", "io.mutex.protocol", "io.mutex.redis", "io.mutex.run",
				"io.mutex.transaction");
	}

	@Test
	void nothingDependsOnTheAutoConfiguration() {
		check(ArchRuleDefinition.noClasses()
			.that()
			.resideOutsideOfPackage("io.mutex.autoconfigure..")
			.should()
			.dependOnClassesThat()
			.resideInAPackage("io.mutex.autoconfigure.."));
	}

	@Test
	void theCoreNeedsNothingButTheJdkJSpecifyAndSlf4j() {
		check(ArchRuleDefinition.classes()
			.that()
			.resideInAnyPackage("io.mutex", "io.mutex.run", "io.mutex.fence", "io.mutex.protocol", "io.mutex.engine",
					"io.mutex.memory")
			.should()
			.onlyDependOnClassesThat()
			.resideInAnyPackage("java..", "javax.sql..", "org.jspecify..", "org.slf4j..", "io.mutex", "io.mutex.run",
					"io.mutex.fence", "io.mutex.protocol", "io.mutex.engine", "io.mutex.memory"));
		check(ArchRuleDefinition.noClasses()
			.that()
			.resideInAnyPackage("io.mutex", "io.mutex.run")
			.should()
			.dependOnClassesThat()
			.resideInAnyPackage("io.mutex.protocol", "io.mutex.engine", "io.mutex.memory"));
	}

	@Test
	void providersKnowTheCoreAndNeverEachOther() {
		for (String provider : PROVIDERS) {
			String own = "io.mutex." + provider + "..";
			check(ArchRuleDefinition.noClasses()
				.that()
				.resideInAPackage(own)
				.should()
				.dependOnClassesThat()
				.resideInAnyPackage("io.mutex.engine..", "io.mutex.interceptor..", "io.mutex.annotation..",
						"io.mutex.health..", "io.mutex.metrics..", "io.mutex.actuate.."));
			for (String other : PROVIDERS) {
				if (!other.equals(provider)) {
					check(ArchRuleDefinition.noClasses()
						.that()
						.resideInAPackage(own)
						.should()
						.dependOnClassesThat()
						.resideInAPackage("io.mutex." + other + ".."));
				}
			}
		}
	}

	@Test
	void theInterceptorKnowsNoProviderNoBootAndNoMicrometer() {
		check(ArchRuleDefinition.noClasses()
			.that()
			.resideInAPackage("io.mutex.interceptor..")
			.should()
			.dependOnClassesThat()
			.resideInAnyPackage("io.mutex.file..", "io.mutex.jdbc..", "io.mutex.redis..", "io.mutex.memory..",
					"org.springframework.boot..", "io.micrometer.."));
	}

	@Test
	void onlyTheOuterPackagesKnowSpringBoot() {
		check(ArchRuleDefinition.noClasses()
			.that()
			.resideOutsideOfPackages("io.mutex.autoconfigure..", "io.mutex.actuate..", "io.mutex.health..")
			.should()
			.dependOnClassesThat()
			.resideInAPackage("org.springframework.boot.."));
	}

	@Test
	void transactionsKnowTheEngineAndNoProvider() {
		check(ArchRuleDefinition.noClasses()
			.that()
			.resideInAPackage("io.mutex.transaction..")
			.should()
			.dependOnClassesThat()
			.resideInAnyPackage("io.mutex.file..", "io.mutex.jdbc..", "io.mutex.redis..", "io.mutex.memory..",
					"org.springframework.boot..", "io.micrometer.."));
	}

	@Test
	void httpKnowsTheCoreAndTheContractOfTheGuards() {
		check(ArchRuleDefinition.classes()
			.that()
			.resideInAPackage("io.mutex.http..")
			.should()
			.onlyDependOnClassesThat()
			.resideInAnyPackage("java..", "jakarta.servlet..", "org.jspecify..", "org.slf4j..", "org.reactivestreams..",
					"reactor.core..", "reactor.util..", "org.springframework.core..", "org.springframework.http..",
					"org.springframework.web..", "io.mutex", "io.mutex.fence", "io.mutex.http"));
	}

	@Test
	void packagesHaveNoCycles() {
		check(SlicesRuleDefinition.slices().matching("io.mutex.(*)..").should().beFreeOfCycles());
	}

	private static void check(ArchRule rule) {
		rule.check(main);
	}

}
