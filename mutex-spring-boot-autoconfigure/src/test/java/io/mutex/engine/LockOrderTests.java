package io.mutex.engine;

import io.mutex.engine.LockOrder.Taken;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Which orders are opposite, and for how long they are remembered.
 */
class LockOrderTests {

	private final LockOrder order = new LockOrder(100);

	private static Taken taken(String outer, String inner) {
		return new Taken(outer.split(":")[0], outer, inner.split(":")[0], inner, "thread");
	}

	@Test
	void namesAreComparedAndKeysOnlyIfTheirNameIsTheSame() {
		Taken first = taken("order:1", "stock:1");
		assertThat(this.order.add(first)).isNull();
		assertThat(this.order.add(taken("stock:2", "order:2"))).isSameAs(first);
		assertThat(this.order.add(taken("account:1", "account:2"))).isNull();
		assertThat(this.order.add(taken("account:3", "account:1"))).isNull();
		assertThat(this.order.add(taken("account:2", "account:1"))).isNotNull();
	}

	@Test
	void pairIsReturnedOnce() {
		this.order.add(taken("a", "b"));
		assertThat(this.order.add(taken("b", "a"))).isNotNull();
		assertThat(this.order.add(taken("a", "b"))).isNull();
		assertThat(this.order.add(taken("b", "a"))).isNull();
	}

	@Test
	void pairThatIsUsedIsRememberedLongerThanOthers() {
		this.order.add(taken("used", "b"));
		this.order.add(taken("unused", "b"));
		for (int i = 0; i < 1000; i++) {
			this.order.add(taken("k:" + i, "k:" + (i + 1)));
			this.order.add(taken("used", "b"));
		}
		assertThat(this.order.add(taken("b", "used"))).isNotNull();
		assertThat(this.order.add(taken("b", "unused"))).isNull();
	}

}
