package io.mutex.redis;

/**
 * The scripts of the guard: the check and what follows it are one step.
 */
final class FenceScripts {

	private static final String CHECK = ScriptText.load("fence");

	static final ScriptText REGISTER = new ScriptText(CHECK + "return register()\n");

	/**
	 * Runs one command: its name, and what follows its key, are arguments.
	 */
	static final String COMMAND = "return redis.call(ARGV[1], KEYS[1], unpack(ARGV, 2))";

	private static final ScriptText CHECKED_COMMAND = new ScriptText(
			function(COMMAND) + CHECK + "return guarded(work)\n");

	static final ScriptText RESOURCES = new ScriptText(ScriptText.load("fence-resources"));

	private FenceScripts() {
	}

	/**
	 * Puts the check before a script. The script sees nothing of it: its keys and
	 * arguments are counted from 1, and the lines that its errors name are its own.
	 * @param text the script
	 * @return the script that runs only if the check lets it
	 */
	static ScriptText around(String text) {
		return text.equals(COMMAND) ? CHECKED_COMMAND
				: new ScriptText(function(text) + CHECK + "return guarded(work)\n");
	}

	/**
	 * Runs a script without a check.
	 * @param text the script
	 * @return the script that answers as if the check had let it
	 */
	static ScriptText unchecked(String text) {
		return new ScriptText(function(text) + "return { 'ACCEPTED', work(KEYS, ARGV) }\n");
	}

	private static String function(String text) {
		return "local function work(KEYS, ARGV) " + text + "\nend\n";
	}

}
