package io.mutex.annotation;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.core.annotation.AliasFor;

/**
 * Runs a method once per period over all instances of an application. A success is
 * recorded under the lock; a failed run leaves the period open.
 * <p>
 * On a class it applies to every public method; the key must then be a template that
 * tells the methods apart, or the class has only one. Every text attribute resolves
 * <code>${…}</code>. Durations are written as <code>30s</code>, <code>5m</code> or
 * <code>PT30S</code>; a bare number is accepted only if it is 0.
 */
@Target({ ElementType.METHOD, ElementType.TYPE, ElementType.ANNOTATION_TYPE })
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
public @interface SingleRun {

	/**
	 * Alias for {@link #key()}.
	 * @return the key template
	 */
	@AliasFor("key")
	String value() default "";

	/**
	 * The key, required: literal text with <code>${property}</code> and
	 * <code>#{SpEL over the parameters}</code>, such as <code>import:#{#file}</code>.
	 * Evaluated, it has 1 to 200 characters.
	 * @return the key template
	 */
	@AliasFor("value")
	String key() default "";

	/**
	 * What "once" means: <code>tick</code> (the firing of the cron schedule),
	 * <code>hour</code>, <code>day</code>, <code>week</code>, <code>month</code>,
	 * <code>year</code>, a duration (no run starts within that time of the start of the
	 * last success), <code>forever</code>, or <code>none</code> (no record; only no two
	 * at once).
	 * @return the period; empty means <code>tick</code> with a cron schedule, the rate
	 * with a fixed rate, else <code>none</code>
	 */
	String per() default "";

	/**
	 * A template that names the unit itself, such as <code>#{#businessDate}</code>.
	 * Excludes {@link #per()}.
	 * @return the unit template, 1 to 200 characters when evaluated
	 */
	String unit() default "";

	/**
	 * The time zone of calendar periods.
	 * @return a zone id; empty means that of the schedule, else <code>mutex.zone</code>,
	 * else the system's
	 */
	String zone() default "";

	/**
	 * How long to wait while the key is held.
	 * @return a duration, 0 or more
	 */
	String waitFor() default "0";

	/**
	 * What to do when the key is held by another run.
	 * @return the policy
	 */
	OnHeld onHeld() default OnHeld.SKIP;

	/**
	 * What to do when an earlier run of the unit died.
	 * @return the policy
	 */
	OnInDoubt onInDoubt() default OnInDoubt.RERUN;

	/**
	 * A SpEL expression over the parameters and beans, evaluated under the lock: if it is
	 * true the result is there already, and the unit is recorded as done.
	 * @return the expression; empty means that the method always runs
	 */
	String unless() default "";

	/**
	 * How often a unit that failed is tried again by the starter itself, on any instance,
	 * until the next firing of the schedule. After the death of an instance its unit is
	 * taken over when the lease has expired, and counts as tried. Methods without
	 * parameters only.
	 * @return a number from 0 to 1000
	 */
	int maxRetries() default 0;

	/**
	 * How long after a failure the next attempt begins; after a death there is no delay.
	 * @return a duration, 0 or more
	 */
	String delay() default "1m";

	/**
	 * Whether the last unit is run at start-up if it was missed: no attempt has been
	 * made, or only one that died, of a job that has run before. Methods without
	 * parameters that have a cron schedule only.
	 * @return the policy
	 */
	CatchUp catchUp() default CatchUp.DEFAULT;

	/**
	 * The length of the lease, renewed while the method runs: how long after a death
	 * another instance takes over.
	 * @return a duration of at least 1 second; empty means
	 * <code>mutex.single-run.lease</code>
	 */
	String lease() default "";

	/**
	 * The longest hold, after which the lease is lost.
	 * @return a duration longer than 0; empty means
	 * <code>mutex.single-run.max-hold</code>
	 */
	String maxHold() default "";

}
