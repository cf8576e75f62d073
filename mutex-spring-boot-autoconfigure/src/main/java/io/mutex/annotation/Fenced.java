package io.mutex.annotation;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.core.annotation.AliasFor;

/**
 * Runs a method under a lease with a fencing token. A parameter of type
 * {@link io.mutex.FencingToken} or {@link io.mutex.Lease} is filled by the interceptor;
 * the caller passes {@code null}.
 * <p>
 * Where the data lie in a guarded database, each transaction on it inside the call is
 * checked before its commit. If the method joins a transaction of its caller, the key is
 * held, and the lease renewed, until that one ends, and is checked before its commit; a
 * later call of the key inside it uses the same lease. A method that returns a stage
 * holds the key until the stage completes as well. What another thread does is checked if
 * it binds the lease, by {@link io.mutex.Leases#bind(io.mutex.Lease)}.
 * <p>
 * Every text attribute resolves <code>${…}</code>. Durations are written as
 * <code>30s</code>, <code>5m</code> or <code>PT30S</code>; a bare number is accepted only
 * if it is 0.
 */
@Target({ ElementType.METHOD, ElementType.TYPE, ElementType.ANNOTATION_TYPE })
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
public @interface Fenced {

	/**
	 * Alias for {@link #key()}.
	 * @return the key template
	 */
	@AliasFor("key")
	String value() default "";

	/**
	 * The key, required: literal text with <code>${property}</code> and
	 * <code>#{SpEL over the parameters}</code>, such as <code>account:#{#id}</code>.
	 * Evaluated, it has 1 to 200 characters.
	 * @return the key template
	 */
	@AliasFor("value")
	String key() default "";

	/**
	 * The guarded resource that the method writes to: a template like the key. A resource
	 * belongs to one key: a guard refuses the grants of another.
	 * @return the resource template; empty means the key
	 */
	String resource() default "";

	/**
	 * How long to wait while the key is held.
	 * @return a duration, 0 or more; empty means <code>mutex.fenced.wait-for</code>
	 */
	String waitFor() default "";

	/**
	 * What to do when the key is held and the time to wait is over.
	 * @return the policy
	 */
	OnHeld onHeld() default OnHeld.FAIL;

	/**
	 * When the storage refuses an earlier holder.
	 * @return the policy
	 */
	Fencing fencing() default Fencing.STRICT;

	/**
	 * Whether the holders of the key exclude each other. Methods that share a key run at
	 * the same time, and beside none that does not share it: readers and a writer. A
	 * guard knows one holder, so sharing needs {@link Fencing#NONE}.
	 * @return the mode
	 */
	Mode mode() default Mode.EXCLUSIVE;

	/**
	 * How many may hold the key at once: a counting semaphore over all instances. More
	 * than one needs {@link Fencing#NONE}, and excludes {@link Mode#SHARED}.
	 * @return the number, 1 or more
	 */
	int permits() default 1;

	/**
	 * The length of the lease, renewed while the method runs.
	 * @return a duration of at least 1 second; empty means
	 * <code>mutex.fenced.lease</code>
	 */
	String lease() default "";

	/**
	 * The longest hold, after which the lease is lost.
	 * @return a duration longer than 0; empty means <code>mutex.fenced.max-hold</code>
	 */
	String maxHold() default "";

}
