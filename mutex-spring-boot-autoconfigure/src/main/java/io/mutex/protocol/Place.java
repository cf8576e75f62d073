package io.mutex.protocol;

import io.mutex.AcquireRequest;
import io.mutex.AcquireRequest.Reservation;

/**
 * The place of the next holder of a key.
 *
 * @param waiter who has it
 * @param until when it becomes empty, in microseconds since 1970 by the store's clock
 * @see io.mutex.AcquireRequest.Reservation
 */
public record Place(String waiter, long until) {

	/**
	 * The place that nobody has.
	 */
	public static final Place EMPTY = new Place("", 0);

	static Place of(Reservation reservation, long now) {
		return new Place(reservation.waiter(), now + Micros.of(reservation.lasting()));
	}

	/**
	 * Whether somebody has the place.
	 * @param now the store's time
	 * @return {@code false} once it has ended
	 */
	public boolean isTaken(long now) {
		return this.until > now;
	}

	// whether the request may be granted a free key
	boolean admits(AcquireRequest request, long now) {
		Reservation reservation = request.reservation();
		return (reservation != null) ? admits(reservation, now) : !request.isShared() || !isTaken(now);
	}

	// whether the waiter may have the place
	boolean admits(Reservation reservation, long now) {
		return !isTaken(now) || this.waiter.equals(reservation.waiter());
	}

	// the place after a grant
	Place after(AcquireRequest request) {
		Reservation reservation = request.reservation();
		return (reservation != null && this.waiter.equals(reservation.waiter())) ? EMPTY : this;
	}

}
