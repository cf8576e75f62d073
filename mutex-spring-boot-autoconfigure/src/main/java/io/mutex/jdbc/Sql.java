package io.mutex.jdbc;

/**
 * Replaces the placeholders of SQL texts by the names and expressions of one database.
 */
final class Sql {

	private final JdbcPlatform platform;

	private final JdbcSettings settings;

	Sql(JdbcPlatform platform, JdbcSettings settings) {
		this.platform = platform;
		this.settings = settings;
	}

	String text(String template) {
		String text = template.replace("@@now@@", this.platform.now())
			.replace("@@lock@@", this.settings.table("lock"))
			.replace("@@run@@", this.settings.table("run"))
			.replace("@@fence@@", this.settings.table("fence"));
		return JdbcPlatform.withTimeout(text, this.settings.lockTimeout());
	}

	String insert(String template, String columns) {
		return text(template.replace("@@columns@@", columns).replace("@@values@@", columns.replaceAll("\\w+", "?")));
	}

}
