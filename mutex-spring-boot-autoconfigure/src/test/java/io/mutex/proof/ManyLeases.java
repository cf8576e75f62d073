package io.mutex.proof;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import com.sun.management.OperatingSystemMXBean;
import io.mutex.Lease;
import io.mutex.LockProvider;
import io.mutex.LockRequest;
import io.mutex.MutexListener;
import io.mutex.engine.EngineSettings;
import io.mutex.engine.LockEngine;

/**
 * A process that holds many leases at once, and measures what that costs it.
 */
final class ManyLeases implements MutexListener {

	private static final int THREADS = 4;

	private final AtomicInteger batches = new AtomicInteger();

	private final AtomicInteger renewed = new AtomicInteger();

	private final AtomicInteger lost = new AtomicInteger();

	private ManyLeases() {
	}

	/**
	 * Acquires, holds and releases.
	 * @param arguments the store, its address, a namespace, how many leases, their length
	 * for how long they are measured, and after how many renewals of each
	 * @throws Exception if anything fails
	 */
	public static void main(String[] arguments) throws Exception {
		new ManyLeases().run(Store.valueOf(arguments[0]).open(arguments[1], arguments[2]),
				Integer.parseInt(arguments[3]), Duration.parse(arguments[4]), Duration.parse(arguments[5]),
				Integer.parseInt(arguments[6]));
		System.exit(0);
	}

	private void run(LockProvider store, int leases, Duration ttl, Duration measured, int rounds) throws Exception {
		LockProvider counted = Between.on(store, (operation, call) -> {
			Object answer = call.call();
			if (operation.equals("renew")) {
				this.batches.incrementAndGet();
			}
			return answer;
		});
		try (LockEngine engine = new LockEngine(counted, EngineSettings.defaults("holder"), List.of(this))) {
			ManyKeys.connect(engine);
			long before = ManyKeys.heap();
			CompletableFuture<Void> free = new CompletableFuture<>();
			List<CompletableFuture<Void>> ended = hold(engine, leases, ttl, free);
			System.out.println("held");
			// once the leases have come together
			awaitRenewed(this.renewed.get() + rounds * leases);
			long heap = ManyKeys.heap() - before;
			int batchesBefore = this.batches.get();
			int renewedBefore = this.renewed.get();
			long cpu = cpu();
			long start = System.nanoTime();
			TimeUnit.NANOSECONDS.sleep(measured.toNanos());
			double took = System.nanoTime() - start;
			double share = (cpu() - cpu) / took * 100;
			int kept = store.locks(leases + 10).size();
			System.out.printf(Locale.ROOT, "measured %d %d %d %d %.2f %d%n", this.batches.get() - batchesBefore,
					this.renewed.get() - renewedBefore, this.lost.get(), kept, share, heap);
			free.complete(null);
			CompletableFuture.allOf(ended.toArray(CompletableFuture[]::new)).get();
			System.out.println("released " + store.locks(10).size() + " " + this.lost.get());
		}
	}

	private static List<CompletableFuture<Void>> hold(LockEngine engine, int leases, Duration ttl,
			CompletableFuture<Void> free) throws Exception {
		ExecutorService threads = Executors.newFixedThreadPool(THREADS);
		List<Future<CompletableFuture<Void>>> held = new ArrayList<>();
		for (int i = 0; i < leases; i++) {
			LockRequest request = LockRequest.of("key-" + i).withName("key").withLease(ttl);
			held.add(threads.submit(() -> engine.execute(request, (lease) -> free.thenRun(() -> {
			}))));
		}
		threads.shutdown();
		List<CompletableFuture<Void>> ended = new ArrayList<>();
		for (Future<CompletableFuture<Void>> one : held) {
			ended.add(one.get());
		}
		return ended;
	}

	private void awaitRenewed(int number) throws InterruptedException {
		while (this.renewed.get() < number) {
			TimeUnit.MILLISECONDS.sleep(50);
		}
	}

	private static long cpu() {
		return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
	}

	@Override
	public void renewed(int renewed, int failed) {
		this.renewed.addAndGet(renewed);
	}

	@Override
	public void lost(Lease lease, String reason) {
		this.lost.incrementAndGet();
		System.out.println("lost " + lease.key() + ": " + reason);
	}

}
