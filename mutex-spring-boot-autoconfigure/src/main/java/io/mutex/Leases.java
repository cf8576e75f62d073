package io.mutex;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * The leases of the current call path.
 */
public final class Leases {

	private static final ThreadLocal<@Nullable Frame> CURRENT = new ThreadLocal<>();

	private static final ThreadLocal<@Nullable Frame> RETAINED = new ThreadLocal<>();

	private Leases() {
	}

	/**
	 * The innermost lease of this call path.
	 * @return the lease, or empty if no protected method is being run by this thread
	 */
	public static Optional<Lease> current() {
		return Optional.ofNullable(CURRENT.get()).map(Frame::lease);
	}

	/**
	 * The innermost lease of this call path that holds a key.
	 * @param key the key
	 * @return the lease, valid or lost, or empty if this call path does not hold the key
	 */
	public static Optional<Lease> find(String key) {
		Lease lease = find(CURRENT.get(), key);
		return Optional.ofNullable((lease != null) ? lease : find(RETAINED.get(), key));
	}

	private static @Nullable Lease find(@Nullable Frame innermost, String key) {
		for (Frame frame = innermost; frame != null; frame = frame.outer()) {
			if (frame.lease().key().equals(key)) {
				return frame.lease();
			}
		}
		return null;
	}

	/**
	 * The leases of this call path.
	 * @return each lease once, the innermost first
	 */
	public static List<Lease> all() {
		return distinct(CURRENT.get(), null);
	}

	/**
	 * The leases that this call path holds: its own, and those that a transaction of its
	 * thread goes on holding.
	 * @return each lease once, the innermost first
	 */
	public static List<Lease> held() {
		Frame current = CURRENT.get();
		Frame retained = RETAINED.get();
		return (current != null || retained != null) ? distinct(current, retained) : List.of();
	}

	private static List<Lease> distinct(@Nullable Frame... innermost) {
		Set<Lease> leases = Collections.newSetFromMap(new IdentityHashMap<>());
		List<Lease> ordered = new ArrayList<>();
		for (Frame first : innermost) {
			for (Frame frame = first; frame != null; frame = frame.outer()) {
				if (leases.add(frame.lease())) {
					ordered.add(frame.lease());
				}
			}
		}
		return ordered;
	}

	/**
	 * Throws unless this call path holds a key. A method that must not run unprotected
	 * begins with it: a call that has bypassed the proxy fails here.
	 * @param key the key
	 * @return the lease that holds it
	 * @throws MutexException if this call path does not hold the key
	 * @throws LeaseLostException if its lease of the key is lost
	 */
	public static Lease assertHeld(String key) {
		Lease lease = find(key).orElseThrow(() -> new MutexException(key, "key '" + key
				+ "' is not held by this call: was the annotated method called on 'this' instead of on the bean, "
				+ "or the work moved to another thread?"));
		lease.assertValid();
		return lease;
	}

	/**
	 * Makes a lease the innermost one of the current thread until the returned scope is
	 * closed. For code that moves protected work to another thread, and for tests.
	 * @param lease the lease
	 * @return the scope, to be closed by the same thread
	 */
	public static Scope bind(Lease lease) {
		Frame outer = CURRENT.get();
		CURRENT.set(new Frame(lease, outer));
		return () -> {
			if (outer != null) {
				CURRENT.set(outer);
			}
			else {
				CURRENT.remove();
			}
		};
	}

	/**
	 * Lets {@link #find} see a lease after its call has returned, until the returned
	 * scope is closed. For a transaction of the current thread that goes on holding it.
	 * @param lease the lease
	 * @return the scope, to be closed by the same thread
	 */
	public static Scope retain(Lease lease) {
		RETAINED.set(new Frame(lease, RETAINED.get()));
		return () -> {
			Frame rest = without(lease, RETAINED.get());
			if (rest != null) {
				RETAINED.set(rest);
			}
			else {
				RETAINED.remove();
			}
		};
	}

	// transactions do not end in the order in which their leases were granted
	private static @Nullable Frame without(Lease removed, @Nullable Frame frames) {
		if (frames == null) {
			return null;
		}
		if (frames.lease() == removed) {
			return frames.outer();
		}
		return new Frame(frames.lease(), without(removed, frames.outer()));
	}

	/**
	 * The time in which a lease is the innermost one of a thread.
	 */
	@FunctionalInterface
	public interface Scope extends AutoCloseable {

		@Override
		void close();

	}

	private record Frame(Lease lease, @Nullable Frame outer) {

	}

}
