package io.mutex.file;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.util.List;
import java.util.Locale;

import io.mutex.AcquireRequest;
import io.mutex.AcquireRequest.Reservation;
import io.mutex.Acquisition;
import io.mutex.protocol.Micros;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The place of the next holder of a key, in a file of its own, since the state is for the
 * holder to write. It decides whose turn it is and never who holds the key, so it needs
 * neither lock nor flush: of two that take an empty place at once the later has it.
 *
 * @param waiter who has the place
 * @param since when it took or prolonged it, in microseconds since 1970
 * @param until when the place is empty again
 */
record NextHolder(String waiter, long since, long until) {

	private static final Logger logger = LoggerFactory.getLogger(NextHolder.class);

	private static final String HEADER = "mutex-next 1";

	private static final int READ_ATTEMPTS = 3;

	/**
	 * Who has the place.
	 * @param files the files of the key
	 * @param now the time
	 * @return the next holder, or {@code null} if the place is empty
	 */
	static @Nullable NextHolder read(KeyFiles files, long now) {
		for (int attempt = 0; attempt < READ_ATTEMPTS && files.next().toFile().exists(); attempt++) {
			try (RandomAccessFile file = new RandomAccessFile(files.next().toFile(), "r")) {
				byte[] content = new byte[(int) file.length()];
				file.readFully(content);
				List<String> fields = SealedText.open(HEADER, content).get(0);
				NextHolder next = new NextHolder(fields.get(0), Long.parseLong(fields.get(1)),
						Long.parseLong(fields.get(2)));
				return next.isNow(now) ? next : null;
			}
			catch (IOException | NumberFormatException | IndexOutOfBoundsException ex) {
				// removed or written at the moment; what cannot be read is nobody's turn
			}
		}
		return null;
	}

	// not before it was taken either: the clock may have been set back
	private boolean isNow(long now) {
		return this.since <= now && now < this.until;
	}

	/**
	 * Whether it is not the turn of a request.
	 * @param request the request
	 * @return whether it waits or shares, for another waiter
	 */
	boolean excludes(AcquireRequest request) {
		Reservation reservation = request.reservation();
		return (reservation != null) ? !this.waiter.equals(reservation.waiter()) : request.isShared();
	}

	/**
	 * Stores what an answer means for the place. If it cannot be stored, the next request
	 * tries again.
	 * @param files the files of the key
	 * @param request the request
	 * @param answer the answer to it
	 * @param now the time
	 */
	static void update(KeyFiles files, AcquireRequest request, Acquisition answer, long now) {
		try {
			Reservation reservation = request.reservation();
			if (answer instanceof Acquisition.Held && reservation != null && isFree(files, request, now)) {
				new NextHolder(reservation.waiter(), now, now + Micros.of(reservation.lasting())).write(files);
			}
			else if (answer instanceof Acquisition.Granted && files.next().toFile().exists()
					&& isFree(files, request, now)) {
				Files.deleteIfExists(files.next());
			}
		}
		catch (IOException ex) {
			logger.debug("cannot store the next holder; key={} provider=file", request.key(), ex);
		}
	}

	private static boolean isFree(KeyFiles files, AcquireRequest request, long now) {
		NextHolder next = read(files, now);
		Reservation reservation = request.reservation();
		return next == null || (reservation != null && next.waiter().equals(reservation.waiter()));
	}

	// in one piece of constant length over the former one, so that readers find either
	private void write(KeyFiles files) throws IOException {
		byte[] content = new SealedText(HEADER)
			.line(this.waiter, String.format(Locale.ROOT, "%020d", this.since),
					String.format(Locale.ROOT, "%020d", this.until))
			.seal();
		try (RandomAccessFile file = new RandomAccessFile(files.next().toFile(), "rw")) {
			file.write(content);
			file.setLength(content.length);
		}
	}

}
