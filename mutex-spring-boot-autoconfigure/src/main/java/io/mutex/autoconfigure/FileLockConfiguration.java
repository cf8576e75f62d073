package io.mutex.autoconfigure;

import java.nio.file.Path;

import io.mutex.LockProvider;
import io.mutex.file.FileLockProvider;
import io.mutex.memory.MemoryLockProvider;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Locks that need no server: in files, or in memory.
 */
@Configuration(proxyBeanMethods = false)
class FileLockConfiguration {

	@Bean
	LockProviderFactory mutexFileLockProviderFactory(MutexProperties properties) {
		return LockProviderFactory.of(MutexProviderType.FILE,
				(namespace) -> fileLockProvider(properties.file(), namespace));
	}

	@Bean
	LockProviderFactory mutexMemoryLockProviderFactory() {
		return LockProviderFactory.of(MutexProviderType.MEMORY, (namespace) -> new MemoryLockProvider());
	}

	private static LockProvider fileLockProvider(MutexProperties.File file, String namespace) {
		Path directory = (file.directory() != null) ? file.directory()
				: Path.of(System.getProperty("user.home"), ".mutex", "locks");
		return new FileLockProvider(directory, namespace, file.allowNetwork());
	}

}
