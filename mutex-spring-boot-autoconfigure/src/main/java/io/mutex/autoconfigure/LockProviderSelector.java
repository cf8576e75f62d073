package io.mutex.autoconfigure;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.stream.Collectors;

import io.mutex.LockProvider;
import io.mutex.StoreSetupException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.cloud.CloudPlatform;
import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;

/**
 * Chooses the store: the one that is configured, else the only one that the application
 * has, else files of this host.
 */
final class LockProviderSelector {

	private static final String DEFAULT_NAMESPACE = "application";

	private static final int MAX_NAMESPACE = 100;

	private static final Logger logger = LoggerFactory.getLogger(LockProviderSelector.class);

	private final MutexProperties properties;

	private final Environment environment;

	private final Map<MutexProviderType, LockProviderFactory> factories;

	private final BooleanSupplier inherited;

	private volatile @Nullable LockProviderFactory created;

	LockProviderSelector(MutexProperties properties, Environment environment, List<LockProviderFactory> factories,
			BooleanSupplier inherited) {
		this.properties = properties;
		this.environment = environment;
		this.factories = factories.stream().collect(Collectors.toMap(LockProviderFactory::type, Function.identity()));
		this.inherited = inherited;
	}

	/**
	 * Creates the chosen provider, without asking its store anything.
	 * @return the provider
	 * @throws StoreSetupException if the choice is not clear or cannot be met
	 */
	LockProvider create() {
		LockProviderFactory factory = select();
		requireNamespace(factory.type());
		this.created = factory;
		return factory.create(namespace());
	}

	/**
	 * Says what the chosen store does not protect. May ask it.
	 * @param provider the provider in use
	 * @throws StoreSetupException if a parent context has chosen another store than this
	 * one would
	 */
	void announce(LockProvider provider) {
		LockProviderFactory factory = this.inherited.getAsBoolean() ? chosenAlike(provider) : this.created;
		if (factory != null) {
			warnOfLimits(factory);
		}
	}

	// a store of this host, say, in place of the database that only the child has
	private @Nullable LockProviderFactory chosenAlike(LockProvider inherited) {
		LockProviderFactory own;
		try {
			own = select();
		}
		catch (StoreSetupException ex) {
			// the parent has made the choice that is not clear here
			return null;
		}
		if (!own.type().name().equalsIgnoreCase(inherited.name())) {
			String chosen = own.type().name().toLowerCase(Locale.ROOT);
			throw unfit(
					"The parent context keeps the locks in the " + inherited.name()
							+ " store, which serves this context as well, but here it would be " + chosen + ".",
					"Give both contexts one mutex.provider and the store it needs, or exclude MutexAutoConfiguration"
							+ " from the parent.");
		}
		return own;
	}

	/**
	 * Whether a kind of store is the chosen one.
	 * @param type the kind
	 * @return {@code false} also if the choice is not clear
	 */
	boolean isSelected(MutexProviderType type) {
		try {
			return select().type() == type;
		}
		catch (StoreSetupException ex) {
			return false;
		}
	}

	private LockProviderFactory select() {
		MutexProviderType configured = this.properties.provider();
		if (configured != null) {
			return configured(configured);
		}
		LockProviderFactory jdbc = this.factories.get(MutexProviderType.JDBC);
		LockProviderFactory redis = this.factories.get(MutexProviderType.REDIS);
		if (jdbc != null && redis != null) {
			if (jdbc.isInMemory()) {
				return redis;
			}
			throw unfit(
					"The application has a DataSource and a Redis connection, and nothing says which of them keeps its locks.",
					"Set mutex.provider=jdbc (recommended if the protected work writes there) "
							+ "or mutex.provider=redis.");
		}
		if (jdbc != null) {
			return jdbc;
		}
		return (redis != null) ? redis : fallBackToFile();
	}

	private LockProviderFactory configured(MutexProviderType configured) {
		LockProviderFactory factory = this.factories.get(configured);
		if (factory != null) {
			return factory;
		}
		throw switch (configured) {
			case JDBC -> unfit("mutex.provider is 'jdbc', but the application has no DataSource.",
					"Add spring-boot-starter-jdbc and configure spring.datasource.url.");
			case REDIS -> unfit("mutex.provider is 'redis', but the application has no RedisConnectionFactory.",
					"Add spring-boot-starter-data-redis and configure spring.data.redis.");
			case FILE, MEMORY -> new IllegalStateException("no factory for " + configured);
		};
	}

	private static StoreSetupException unfit(String problem, String remedy) {
		return new StoreSetupException(problem, remedy, null);
	}

	private LockProviderFactory fallBackToFile() {
		CloudPlatform platform = CloudPlatform.getActive(this.environment);
		if (platform != null) {
			throw unfit(
					"The application has no DataSource and no Redis connection, and runs on " + platform
							+ ", where instances do not share files.",
					"Configure a database or Redis. If all instances do share a directory, set mutex.provider=file.");
		}
		return configured(MutexProviderType.FILE);
	}

	/**
	 * The namespace of the locks.
	 * @return the configured one, else the name of the application, else
	 * {@code application}
	 * @throws StoreSetupException if it cannot be used
	 */
	String namespace() {
		String configured = configuredNamespace();
		return (configured != null) ? requireValid(configured) : DEFAULT_NAMESPACE;
	}

	private @Nullable String configuredNamespace() {
		String namespace = this.properties.namespace();
		if (!StringUtils.hasText(namespace)) {
			namespace = this.environment.getProperty("spring.application.name");
		}
		return StringUtils.hasText(namespace) ? namespace : null;
	}

	private void requireNamespace(MutexProviderType type) {
		if (configuredNamespace() != null) {
			return;
		}
		if (type == MutexProviderType.JDBC || type == MutexProviderType.REDIS) {
			throw unfit(
					"Neither mutex.namespace nor spring.application.name is set, "
							+ "so that applications that share the store would exclude each other.",
					"Set spring.application.name, or mutex.namespace to a name of 1 to " + MAX_NAMESPACE
							+ " characters that all instances of this application have in common.");
		}
		logger.warn("Neither mutex.namespace nor spring.application.name is set: "
				+ "applications of this host that set neither exclude each other");
	}

	private static String requireValid(String namespace) {
		if (namespace.length() > MAX_NAMESPACE || !namespace.strip().equals(namespace)
				|| namespace.chars().anyMatch(Character::isISOControl)) {
			throw unfit("The namespace '" + namespace + "' cannot be used.", "Set mutex.namespace to 1 to "
					+ MAX_NAMESPACE + " characters that neither begin nor end with white space.");
		}
		return namespace;
	}

	private void warnOfLimits(LockProviderFactory factory) {
		if (factory.type() == MutexProviderType.MEMORY) {
			logger.warn("mutex.provider is 'memory': locks and records end with this process "
					+ "and protect nothing from another instance; use it for tests only");
		}
		else if (factory.isInMemory()) {
			logger.warn("The locks live in an in-memory database: they end with this process "
					+ "and protect nothing from another instance");
		}
		else if (factory.type() == MutexProviderType.FILE && this.properties.provider() == null) {
			logger.info("No database and no Redis is configured: the locks live in files, "
					+ "which protect the processes of this host that share the directory, and no others");
		}
	}

}
