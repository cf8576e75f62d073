package io.mutex.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The scripts of the locks, each the text of a resource behind the prelude that all
 * share. To define what it holds takes a server longer than most requests do otherwise,
 * so the most frequent ones are decided before it.
 */
enum RedisScript {

	ACQUIRE("layout", "grant", "prelude"), RENEW, RELEASE("free", "layout", "prelude"), SETTLE, FORCE_RELEASE, REOPEN,
	HELD, READ, RUNS, LAST_SUCCESS, CHECK;

	private final String text;

	private final String sha;

	RedisScript() {
		this("layout", "prelude");
	}

	RedisScript(String... before) {
		List<String> resources = new ArrayList<>(List.of(before));
		resources.add(name().toLowerCase(Locale.ROOT).replace('_', '-'));
		this.text = ScriptText.load(resources.toArray(String[]::new));
		this.sha = ScriptText.sha1(this.text);
	}

	ScriptText text() {
		return new ScriptText(this.text, this.sha);
	}

}
