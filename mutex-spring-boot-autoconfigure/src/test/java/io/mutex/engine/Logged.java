package io.mutex.engine;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import org.slf4j.LoggerFactory;

/**
 * What one logger says until it is closed.
 */
final class Logged extends AppenderBase<ILoggingEvent> implements AutoCloseable {

	private final List<ILoggingEvent> events = new CopyOnWriteArrayList<>();

	private final Logger logger;

	Logged(String name) {
		this.logger = (Logger) LoggerFactory.getLogger(name);
		this.logger.setLevel(Level.DEBUG);
		start();
		this.logger.addAppender(this);
	}

	@Override
	protected void append(ILoggingEvent event) {
		this.events.add(event);
	}

	List<String> at(Level level) {
		return this.events.stream()
			.filter((event) -> event.getLevel() == level)
			.map(ILoggingEvent::getFormattedMessage)
			.toList();
	}

	@Override
	public void close() {
		this.logger.detachAppender(this);
		this.logger.setLevel(null);
		stop();
	}

}
