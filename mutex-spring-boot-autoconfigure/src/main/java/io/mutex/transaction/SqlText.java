package io.mutex.transaction;

import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What can be told of a statement from its text. If in doubt, it writes. That a query
 * calls a function which writes cannot be told.
 */
final class SqlText {

	private static final Pattern FIRST = Pattern.compile("\\A(?:\\s|\\(|--[^\\n]*(?:\\n|\\z)|/\\*.*?\\*/)*+([a-z]+)",
			Pattern.CASE_INSENSITIVE | Pattern.DOTALL);

	private static final Set<String> READS = Set.of("SELECT", "VALUES", "SHOW", "EXPLAIN", "TABLE", "WITH", "DESCRIBE",
			"DESC");

	private static final Pattern WRITES = Pattern
		.compile("\\b(?:INSERT|UPDATE|DELETE|MERGE|REPLACE\\s+INTO|INTO|CALL|EXEC"
				+ "|EXECUTE|TRUNCATE|CREATE|ALTER|DROP|GRANT|REVOKE|DO)\\b|;\\s*\\S", Pattern.CASE_INSENSITIVE);

	private static final Set<String> CONTROLS = Set.of("BEGIN", "START", "COMMIT", "END", "XA");

	private static final Pattern AUTO_COMMIT = Pattern.compile("\\A\\s*SET\\b.*\\bAUTOCOMMIT\\b",
			Pattern.CASE_INSENSITIVE | Pattern.DOTALL);

	private SqlText() {
	}

	/**
	 * Whether a statement only reads.
	 * @param sql the statement
	 * @return {@code false} if in doubt
	 */
	static boolean reads(String sql) {
		return READS.contains(firstWord(sql)) && !WRITES.matcher(sql).find();
	}

	/**
	 * Whether a statement begins or commits a transaction.
	 * @param sql the statement
	 * @return {@code true} if it does
	 */
	static boolean controlsTransactions(String sql) {
		return CONTROLS.contains(firstWord(sql)) || AUTO_COMMIT.matcher(sql).find();
	}

	static String firstWord(String sql) {
		Matcher first = FIRST.matcher(sql);
		return first.find() ? first.group(1).toUpperCase(Locale.ROOT) : "";
	}

}
