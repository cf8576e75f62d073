package io.mutex.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.mutex.Lease;
import io.mutex.LockHazard;
import io.mutex.MutexListener;
import io.mutex.StaleFencingTokenException;
import io.mutex.run.Outcome;

/**
 * Remembers everything that it is told.
 */
final class Recorder implements MutexListener {

	final List<String> acquisitions = new CopyOnWriteArrayList<>();

	final List<Lease> granted = new CopyOnWriteArrayList<>();

	final List<String> lost = new CopyOnWriteArrayList<>();

	final List<StaleFencingTokenException> refused = new CopyOnWriteArrayList<>();

	final List<Duration> ended = new CopyOnWriteArrayList<>();

	final List<LockHazard> hazards = new CopyOnWriteArrayList<>();

	final List<Run> runs = new CopyOnWriteArrayList<>();

	@Override
	public void acquisition(String key, String name, String outcome, Duration took) {
		this.acquisitions.add(outcome);
	}

	@Override
	public void granted(Lease lease) {
		this.granted.add(lease);
	}

	@Override
	public void lost(Lease lease, String reason) {
		this.lost.add(reason);
	}

	@Override
	public void refused(Lease lease, StaleFencingTokenException refusal) {
		this.refused.add(refusal);
	}

	@Override
	public void ended(Lease lease, Duration held) {
		this.ended.add(held);
	}

	@Override
	public void hazard(LockHazard hazard) {
		this.hazards.add(hazard);
	}

	@Override
	public void run(Run run) {
		this.runs.add(run);
	}

	List<Outcome> outcomes() {
		return this.runs.stream().map(Run::outcome).toList();
	}

}
