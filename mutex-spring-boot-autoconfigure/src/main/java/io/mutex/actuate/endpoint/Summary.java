package io.mutex.actuate.endpoint;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;

import io.mutex.actuate.endpoint.JobDescriptor.SuccessDescriptor;
import io.mutex.actuate.endpoint.JobDescriptor.UnitDescriptor;
import io.mutex.actuate.endpoint.JobDescriptor.UnitState;
import org.jspecify.annotations.Nullable;

/**
 * The one sentence that says how a job is doing.
 *
 * @param now the time
 * @param zone the zone in which to say times
 * @param success the last success, or {@code null}
 * @param took how long that took
 * @param current the state of the current unit
 * @param missed when an overdue unit was due, or {@code null}
 * @param nextDue when the next unit is due, or {@code null}
 * @param records whether successes are recorded
 */
record Summary(Instant now, ZoneId zone, @Nullable SuccessDescriptor success, Duration took, UnitDescriptor current,
		@Nullable Instant missed, @Nullable Instant nextDue, boolean records) {

	@Override
	public String toString() {
		return switch (this.current.state()) {
			case RUNNING -> "Running: " + by() + " since " + since() + lastSuccess();
			case BLOCKED -> "Blocked: the run of another unit " + by() + " holds the key since " + since() + missing()
					+ lastSuccess();
			case FAILED -> "Failed: attempt " + this.current.attempt() + " " + by() + ", " + since() + ": "
					+ this.current.error() + missing() + lastSuccess() + next();
			case IN_DOUBT -> "In doubt: attempt " + this.current.attempt() + " " + by()
					+ " ended without an outcome, noticed " + since() + missing() + lastSuccess() + next();
			case DONE -> "Fine: ran once, " + how() + next();
			case OPEN -> open();
		};
	}

	private String open() {
		if (this.missed != null) {
			return "Overdue: due " + moment(this.missed) + " " + this.zone + ", "
					+ PlainText.duration(Duration.between(this.missed, this.now)) + " ago"
					+ ((this.success != null) ? lastSuccess() : "; never ran") + next();
		}
		if (this.success == null) {
			return (this.records ? "Never ran" : "No success is known, and none is recorded") + next();
		}
		return "Fine: last ran " + moment(this.success.at()) + ", " + how() + next();
	}

	private String how() {
		return (this.success != null) ? PlainText.duration(this.took) + " on " + this.success.instance() : "";
	}

	private String by() {
		return "on " + this.current.instance();
	}

	private String since() {
		Instant since = this.current.since();
		return (since != null) ? moment(since) : "an unknown time";
	}

	private String missing() {
		return (this.missed != null) ? "; overdue since " + moment(this.missed) : "";
	}

	private String lastSuccess() {
		return (this.success != null) ? "; last success " + moment(this.success.at()) + ", " + how()
				: "; no success yet";
	}

	private String next() {
		Instant attempt = this.current.nextAttempt();
		String again = (attempt != null && attempt.isAfter(this.now) && this.current.state() == UnitState.FAILED)
				? "; may be tried again " + moment(attempt) : "";
		return again + ((this.nextDue != null) ? "; next due " + moment(this.nextDue) + " " + this.zone : "");
	}

	private String moment(Instant moment) {
		return PlainText.moment(moment, this.now, this.zone);
	}

}
