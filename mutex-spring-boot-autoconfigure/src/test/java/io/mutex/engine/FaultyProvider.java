package io.mutex.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;

import io.mutex.AcquireRequest;
import io.mutex.Acquisition;
import io.mutex.HeldLock;
import io.mutex.LockProvider;
import io.mutex.MutexException;
import io.mutex.Purged;
import io.mutex.Reopening;
import io.mutex.memory.MemoryLockProvider;
import io.mutex.run.RunRecord;
import org.jspecify.annotations.Nullable;

/**
 * A provider that does to its operations what a test asks for, and remembers them.
 */
final class FaultyProvider implements LockProvider {

	/** The store is not reached. */
	static final Fault DOWN = (call, store) -> {
		throw new MutexException(call.key(), "the store is down");
	};

	/** The store does its work, and the answer does not arrive. */
	static final Fault ANSWER_LOST = (call, store) -> {
		store.get();
		throw new MutexException(call.key(), "the answer is lost");
	};

	/** Nothing happens to the operation. */
	static final Fault NONE = (call, store) -> store.get();

	final List<Call> calls = new CopyOnWriteArrayList<>();

	final List<AcquireRequest> requests = new CopyOnWriteArrayList<>();

	/** What the store reports of keys that become free; nothing by default. */
	volatile Listening listening = (waiter, released) -> false;

	private final LockProvider store;

	private final boolean expires;

	private final List<BlockingQueue<Fault>> next = new ArrayList<>();

	private final List<Fault> always = new CopyOnWriteArrayList<>();

	FaultyProvider() {
		this(new MemoryLockProvider(), true);
	}

	FaultyProvider(LockProvider store, boolean expires) {
		this.store = store;
		this.expires = expires;
		for (Op op : Op.values()) {
			this.next.add(new LinkedBlockingQueue<>());
			this.always.add(NONE);
		}
	}

	/**
	 * Does something to the next operations of a kind, one each.
	 * @param op which
	 * @param faults what
	 */
	void next(Op op, Fault... faults) {
		this.next.get(op.ordinal()).addAll(List.of(faults));
	}

	/**
	 * Does something to every operation of a kind for which nothing else is queued.
	 * @param op which
	 * @param fault what
	 */
	void always(Op op, Fault fault) {
		this.always.set(op.ordinal(), fault);
	}

	void always(Fault fault) {
		for (Op op : Op.values()) {
			always(op, fault);
		}
	}

	List<Call> calls(Op op) {
		return calls((call) -> call.op() == op);
	}

	List<Call> calls(Predicate<Call> filter) {
		return this.calls.stream().filter(filter).toList();
	}

	@Override
	public String name() {
		return "faulty";
	}

	@Override
	public boolean expires() {
		return this.expires;
	}

	@Override
	public Acquisition acquire(AcquireRequest request) {
		this.requests.add(request);
		return (Acquisition) run(Op.ACQUIRE, request.key(), request.nonce(), String.valueOf(request.attempt()),
				() -> this.store.acquire(request));
	}

	@Override
	@SuppressWarnings("unchecked")
	public List<Renewal> renew(List<Grant> grants) {
		return (List<Renewal>) run(Op.RENEW, grants.get(0).key(), grants.get(0).nonce(), String.valueOf(grants.size()),
				() -> this.store.renew(grants));
	}

	@Override
	public Settlement release(String key, String nonce, boolean began) {
		return (Settlement) run(Op.RELEASE, key, nonce, String.valueOf(began),
				() -> this.store.release(key, nonce, began));
	}

	@Override
	public Settlement complete(Grant grant, String unit) {
		return (Settlement) run(Op.COMPLETE, grant.key(), grant.nonce(), unit, () -> this.store.complete(grant, unit));
	}

	@Override
	public Settlement fail(Grant grant, String unit, String error, Duration delay) {
		return (Settlement) run(Op.FAIL, grant.key(), grant.nonce(), unit,
				() -> this.store.fail(grant, unit, error, delay));
	}

	@Override
	public ForcedRelease forceRelease(String key) {
		return this.store.forceRelease(key);
	}

	@Override
	public Reopening reopen(String key, String unit) {
		return this.store.reopen(key, unit);
	}

	@Override
	public List<HeldLock> locks(int limit) {
		return this.store.locks(limit);
	}

	@Override
	public Optional<HeldLock> lock(String key) {
		return this.store.lock(key);
	}

	@Override
	public List<RunRecord> runs(String key, int limit) {
		return this.store.runs(key, limit);
	}

	@Override
	public Optional<RunRecord> lastSuccess(String key) {
		return this.store.lastSuccess(key);
	}

	@Override
	public Purged purge(Duration idle, @Nullable String after, int limit) {
		return (Purged) run(Op.PURGE, String.valueOf(after), "", String.valueOf(limit),
				() -> this.store.purge(idle, after, limit));
	}

	@Override
	public boolean listen(String waiter, Consumer<String> released) throws InterruptedException {
		return this.listening.listen(waiter, released);
	}

	@Override
	public void check() {
		this.store.check();
	}

	private Object run(Op op, String key, String nonce, String detail, Supplier<Object> work) {
		Call call = new Call(op, key, nonce, detail, Thread.currentThread().getName());
		this.calls.add(call);
		@Nullable Fault fault = this.next.get(op.ordinal()).poll();
		return ((fault != null) ? fault : this.always.get(op.ordinal())).answer(call, work);
	}

	/**
	 * Lets the store do its work, and changes its answer.
	 * @param change what becomes of the answer
	 * @return the fault
	 */
	static Fault answering(Function<Object, Object> change) {
		return (call, store) -> change.apply(store.get());
	}

	/**
	 * What can be asked of a store.
	 */
	enum Op {

		ACQUIRE, RENEW, RELEASE, COMPLETE, FAIL, PURGE

	}

	/**
	 * One operation that was asked for.
	 *
	 * @param op which
	 * @param key of which key, the first of a batch
	 * @param nonce of which grant, the first of a batch
	 * @param detail the attempt, the size of the batch, whether the body began, or the
	 * unit
	 * @param thread the name of the thread that asked
	 */
	record Call(Op op, String key, String nonce, String detail, String thread) {

	}

	/**
	 * How a store reports keys that become free.
	 */
	interface Listening {

		boolean listen(String waiter, Consumer<String> released) throws InterruptedException;

	}

	/**
	 * What happens to one operation.
	 */
	interface Fault {

		/**
		 * Stands between the engine and the store.
		 * @param call the operation
		 * @param store what the store would do
		 * @return the answer
		 */
		Object answer(Call call, Supplier<Object> store);

	}

}
