package io.mutex.interceptor;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.mutex.AcquireRequest;
import io.mutex.FencingPolicy;
import io.mutex.annotation.Fenced;
import io.mutex.annotation.Fencing;
import io.mutex.annotation.Mode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Methods that several may run at once.
 */
class SharedModeTests {

	@Test
	void modeAndPermitsBecomePartOfTheRequest() {
		try (MutexContext context = MutexContext.of(Several.class)) {
			context.bean(Several.class).read();
			assertThat(context.lastRequest().permits()).isEqualTo(AcquireRequest.SHARED);
			assertThat(context.lastRequest().fencing().mode()).isEqualTo(FencingPolicy.Mode.NONE);
			context.bean(Several.class).upload();
			assertThat(context.lastRequest().permits()).isEqualTo(3);
			context.bean(Several.class).write();
			assertThat(context.lastRequest().permits()).isOne();
		}
	}

	@Test
	void twoReadersRunAtTheSameTime() throws Exception {
		try (MutexContext context = MutexContext.of(Meeting.class)) {
			Meeting bean = context.bean(Meeting.class);
			Thread other = new Thread(bean::read);
			other.start();
			bean.read();
			other.join();
			assertThat(bean.absent()).isZero();
		}
	}

	@ParameterizedTest
	@ValueSource(classes = { SharedAndPermits.class, NoPermits.class, GuardedReaders.class, GuardedPermits.class })
	void whatCannotWorkIsRefusedAtStartUp(Class<?> bean) {
		MutexConfigurationException refusal = MutexContext.create().refusal(bean);
		assertThat(refusal.getMessage()).contains(bean.getName() + ".run()");
		assertThat(refusal.getRemedy()).isNotBlank();
	}

	@Test
	void methodsOfOneKeyWithDifferentPermitsAreRefused() {
		assertThat(MutexContext.create().refusal(ThreeAndFour.class).getMessage()).contains("at most 3 at once",
				"at most 4 at once");
	}

	static class Several {

		@Fenced(key = "book", mode = Mode.SHARED, fencing = Fencing.NONE)
		public void read() {
		}

		@Fenced(key = "book", lease = "1m", fencing = Fencing.NONE)
		public void write() {
		}

		@Fenced(key = "uploads", permits = 3, fencing = Fencing.NONE)
		public void upload() {
		}

	}

	static class Meeting {

		final CountDownLatch both = new CountDownLatch(2);

		public long absent() {
			return this.both.getCount();
		}

		@Fenced(key = "book", mode = Mode.SHARED, fencing = Fencing.NONE)
		public void read() {
			this.both.countDown();
			try {
				assertThat(this.both.await(60, TimeUnit.SECONDS)).isTrue();
			}
			catch (InterruptedException ex) {
				throw new AssertionError(ex);
			}
		}

	}

	static class SharedAndPermits {

		@Fenced(key = "key", mode = Mode.SHARED, permits = 3, fencing = Fencing.NONE)
		public void run() {
		}

	}

	static class NoPermits {

		@Fenced(key = "key", permits = 0, fencing = Fencing.NONE)
		public void run() {
		}

	}

	static class GuardedReaders {

		@Fenced(key = "key", mode = Mode.SHARED)
		public void run() {
		}

	}

	static class GuardedPermits {

		@Fenced(key = "key", permits = 2, fencing = Fencing.ON_WRITE)
		public void run() {
		}

	}

	static class ThreeAndFour {

		@Fenced(key = "key", permits = 3, fencing = Fencing.NONE)
		public void three() {
		}

		@Fenced(key = "key", permits = 4, fencing = Fencing.NONE)
		public void four() {
		}

	}

}
