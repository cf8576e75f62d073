package io.mutex.interceptor;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.ZoneId;

import io.mutex.AcquireRequest;
import io.mutex.Keys;
import io.mutex.LockRequest;
import io.mutex.annotation.Fencing;
import io.mutex.annotation.Mode;
import io.mutex.run.Durations;
import org.jspecify.annotations.Nullable;

import org.springframework.core.annotation.MergedAnnotation;

/**
 * Reads the text attributes of one annotation and refuses what cannot work.
 *
 * @param annotation the annotation
 * @param expressions the method that it applies to
 */
record Attributes(MergedAnnotation<?> annotation, MethodExpressions expressions) {

	private static final int MOST_RETRIES = 1000;

	String text(String attribute) {
		return this.expressions.resolve(attribute, this.annotation.getString(attribute));
	}

	Template key() {
		String declared = this.annotation.getString("key");
		if (declared.isBlank()) {
			throw refuse("it has no key", "Set the key of @" + this.annotation.getType().getSimpleName(), null);
		}
		return template("key", declared);
	}

	@Nullable Template resource() {
		String declared = this.annotation.getString("resource");
		return declared.isEmpty() ? null : template("resource", declared);
	}

	private Template template(String attribute, String declared) {
		Template template = Template.parse(attribute, declared, this.expressions);
		if (template.isConstant()) {
			try {
				Keys.requireValid(template.text());
			}
			catch (IllegalArgumentException ex) {
				throw refuse("its " + attribute + " is not valid: " + ex.getMessage(), "Choose another " + attribute,
						ex);
			}
		}
		return template;
	}

	Duration waitFor(Duration standard) {
		Duration value = duration("waitFor", standard);
		if (value == null || value.isNegative()) {
			throw refuse("its waitFor is below 0", "Set it to 0, or to a time such as 5s", null);
		}
		return value;
	}

	Duration lease(Duration standard) {
		Duration value = duration("lease", standard);
		if (value == null || value.compareTo(LockRequest.MIN_LEASE) < 0) {
			throw refuse("its lease of " + value + " is too short", "Set it to 1s or longer", null);
		}
		return value;
	}

	@Nullable Duration maxHold(@Nullable Duration standard) {
		Duration value = duration("maxHold", standard);
		if (value != null && (value.isNegative() || value.isZero())) {
			throw refuse("its maxHold is not longer than 0", "Set it to a time such as 10m, or leave it out", null);
		}
		return value;
	}

	int permits() {
		int permits = this.annotation.getInt("permits");
		boolean shared = this.annotation.getEnum("mode", Mode.class) == Mode.SHARED;
		if (permits < 1) {
			throw refuse("its permits are " + permits, "Set them to 1 or more, or leave them out", null);
		}
		if (shared && permits > 1) {
			throw refuse("it shares its key and has permits", "Leave out either mode = SHARED or permits", null);
		}
		if ((shared || permits > 1) && this.annotation.getEnum("fencing", Fencing.class) != Fencing.NONE) {
			throw refuse("several may hold its key at once, but a guard knows one holder",
					"Add fencing = Fencing.NONE, or leave out " + (shared ? "mode = SHARED" : "permits"), null);
		}
		return shared ? AcquireRequest.SHARED : permits;
	}

	int maxRetries() {
		int value = this.annotation.getInt("maxRetries");
		if (value < 0 || value > MOST_RETRIES) {
			throw refuse("its maxRetries is " + value, "Set it to a number from 0 to " + MOST_RETRIES, null);
		}
		return value;
	}

	Duration delay() {
		Duration value = duration("delay", null);
		if (value == null || value.isNegative()) {
			throw refuse("its delay is empty or below 0", "Set it to 0, or to a time such as 1m", null);
		}
		return value;
	}

	ZoneId zone(ZoneId standard) {
		String zone = text("zone");
		try {
			return zone.isEmpty() ? standard : ZoneId.of(zone);
		}
		catch (DateTimeException ex) {
			throw refuse("its zone '" + zone + "' is unknown", "Write a zone such as Europe/Oslo, or UTC", ex);
		}
	}

	MutexConfigurationException refuse(String problem, String remedy, @Nullable Throwable cause) {
		return this.expressions.declaration().refuse(problem, remedy, cause);
	}

	private @Nullable Duration duration(String attribute, @Nullable Duration standard) {
		String text = text(attribute);
		try {
			return text.isEmpty() ? standard : Durations.parse(text);
		}
		catch (IllegalArgumentException ex) {
			throw refuse("its " + attribute + " is not valid", "Correct it: " + ex.getMessage(), ex);
		}
	}

}
