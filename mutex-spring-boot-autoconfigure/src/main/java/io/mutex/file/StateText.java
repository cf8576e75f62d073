package io.mutex.file;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.mutex.protocol.LockRow;
import io.mutex.protocol.RunRow;
import io.mutex.run.Owner;
import org.jspecify.annotations.Nullable;

/**
 * The text form of a stored state and of a single run. Lines and fields that it does not
 * know are passed over, as a later version may add some.
 */
final class StateText {

	private static final String STATE_HEADER = "mutex-state 1";

	private static final String RUN_HEADER = "mutex-run 1";

	private static final String RUN = "run";

	private static final int RUN_FIELDS = 12;

	private static final String SHARER = "sharer";

	private static final int SHARER_FIELDS = 9;

	private StateText() {
	}

	static byte[] format(StoredState state) {
		LockRow row = state.lock();
		SealedText text = new SealedText(STATE_HEADER).line("key", state.key())
			.line("version", Long.toString(row.version()))
			.line("token", Long.toString(row.token()))
			.line("nonce", row.nonce())
			.line("name", row.name())
			.line("owner", row.owner().toText())
			.line("attempt", Integer.toString(row.attempt()))
			.line("acquired", Long.toString(row.acquiredAt()))
			.line("held", Boolean.toString(row.expiresAt() > 0))
			.line("pid", Long.toString(state.writer().pid()))
			.line("started", state.writer().started())
			.line("kept", Long.toString(row.keptUntil()))
			.line("older", Boolean.toString(state.older()));
		if (row.unit() != null) {
			text.line("unit", row.unit());
		}
		if (row.buriedAt() > 0) {
			text.line("tombstones", row.tombstones()).line("buried", Long.toString(row.buriedAt()));
		}
		state.runs().forEach((run) -> text.line(fields(run)));
		state.sharers().forEach((sharer) -> text.line(fields(sharer)));
		return text.seal();
	}

	static StoredState parse(byte[] content) throws IOException {
		Map<String, String> values = new HashMap<>();
		List<RunRow> runs = new ArrayList<>();
		List<SharedHolder> sharers = new ArrayList<>();
		for (List<String> fields : SealedText.open(STATE_HEADER, content)) {
			if (fields.size() >= RUN_FIELDS && fields.get(0).equals(RUN)) {
				runs.add(run(fields));
			}
			else if (fields.size() >= SHARER_FIELDS && fields.get(0).equals(SHARER)) {
				sharers.add(sharer(fields));
			}
			else if (fields.size() >= 2) {
				values.put(fields.get(0), fields.get(1));
			}
		}
		LockRow row = new LockRow(number(values, "version"), number(values, "token"), text(values, "nonce"),
				text(values, "name"), Owner.parse(text(values, "owner")), values.get("unit"),
				(int) number(values, "attempt"), number(values, "acquired"),
				text(values, "held").equals("true") ? LockRow.NEVER : 0, values.getOrDefault("tombstones", ""),
				values.containsKey("buried") ? number(values, "buried") : 0, number(values, "kept"));
		ProcessIdentity writer = new ProcessIdentity(number(values, "pid"), text(values, "started"));
		return new StoredState(text(values, "key"), row, writer, List.copyOf(runs),
				text(values, "older").equals("true"), List.copyOf(sharers));
	}

	static byte[] format(String key, RunRow run) {
		return new SealedText(RUN_HEADER).line("key", key).line(fields(run)).seal();
	}

	static RunRow parseRun(byte[] content) throws IOException {
		for (List<String> fields : SealedText.open(RUN_HEADER, content)) {
			if (fields.size() >= RUN_FIELDS && fields.get(0).equals(RUN)) {
				return run(fields);
			}
		}
		throw new IOException("it holds no run");
	}

	private static String[] fields(RunRow run) {
		String error = run.error();
		return new String[] { RUN, run.unit(), run.statusCode(), Long.toString(run.token()), run.nonce(),
				run.owner().toText(), Integer.toString(run.attempt()), Long.toString(run.began()),
				Long.toString(run.ended()), Long.toString(run.notBefore()), (error != null) ? "!" + error : "",
				Long.toString(run.keptUntil()) };
	}

	private static RunRow run(List<String> fields) throws IOException {
		try {
			String error = fields.get(10);
			return new RunRow(fields.get(1), RunRow.statusOf(fields.get(2)), Long.parseLong(fields.get(3)),
					fields.get(4), Owner.parse(fields.get(5)), Integer.parseInt(fields.get(6)),
					Long.parseLong(fields.get(7)), Long.parseLong(fields.get(8)), Long.parseLong(fields.get(9)),
					error.isEmpty() ? null : error.substring(1), Long.parseLong(fields.get(11)));
		}
		catch (NumberFormatException ex) {
			throw new IOException("a run in it has a field that is no number", ex);
		}
	}

	private static String[] fields(SharedHolder sharer) {
		return new String[] { SHARER, Long.toString(sharer.slot()), sharer.nonce(), Long.toString(sharer.token()),
				Long.toString(sharer.acquiredAt()), Long.toString(sharer.process().pid()), sharer.process().started(),
				sharer.owner().toText(), sharer.name() };
	}

	private static SharedHolder sharer(List<String> fields) throws IOException {
		try {
			return new SharedHolder(Long.parseLong(fields.get(1)), fields.get(2), Long.parseLong(fields.get(3)),
					fields.get(8), Owner.parse(fields.get(7)), Long.parseLong(fields.get(4)),
					new ProcessIdentity(Long.parseLong(fields.get(5)), fields.get(6)));
		}
		catch (NumberFormatException ex) {
			throw new IOException("a holder in it has a field that is no number", ex);
		}
	}

	private static long number(Map<String, String> values, String name) throws IOException {
		try {
			return Long.parseLong(text(values, name));
		}
		catch (NumberFormatException ex) {
			throw new IOException("its value of '" + name + "' is no number", ex);
		}
	}

	private static String text(Map<String, String> values, String name) throws IOException {
		@Nullable String value = values.get(name);
		if (value == null) {
			throw new IOException("it has no value of '" + name + "'");
		}
		return value;
	}

}
