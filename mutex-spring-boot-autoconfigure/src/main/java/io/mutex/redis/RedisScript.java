package io.mutex.redis;

import java.util.Locale;

/**
 * The scripts of the locks, each the text of a resource behind the prelude that all
 * share.
 */
enum RedisScript {

	ACQUIRE, RENEW, RELEASE, SETTLE, FORCE_RELEASE, REOPEN, HELD, READ, RUNS, LAST_SUCCESS, CHECK;

	private final String text;

	private final String sha;

	RedisScript() {
		this.text = ScriptText.load("prelude", name().toLowerCase(Locale.ROOT).replace('_', '-'));
		this.sha = ScriptText.sha1(this.text);
	}

	ScriptText text() {
		return new ScriptText(this.text, this.sha);
	}

}
