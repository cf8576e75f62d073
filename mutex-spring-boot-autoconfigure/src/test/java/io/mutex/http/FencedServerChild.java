package io.mutex.http;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

import io.mutex.FencingToken;
import io.mutex.Leases;
import io.mutex.StaleFencingTokenException;
import io.mutex.autoconfigure.MutexAutoConfiguration;
import io.mutex.fence.FenceGuard;
import io.mutex.fence.MemoryGuard;
import io.mutex.testing.JavaProcess;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.http.codec.autoconfigure.CodecsAutoConfiguration;
import org.springframework.boot.reactor.netty.NettyServerCustomizer;
import org.springframework.boot.reactor.netty.autoconfigure.NettyReactiveWebServerAutoConfiguration;
import org.springframework.boot.tomcat.autoconfigure.servlet.TomcatServletWebServerAutoConfiguration;
import org.springframework.boot.web.server.context.WebServerInitializedEvent;
import org.springframework.boot.webflux.autoconfigure.HttpHandlerAutoConfiguration;
import org.springframework.boot.webflux.autoconfigure.WebFluxAutoConfiguration;
import org.springframework.boot.webmvc.autoconfigure.DispatcherServletAutoConfiguration;
import org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

/**
 * A server in a process of its own, on Tomcat with servlets or on Netty with WebFlux.
 */
final class FencedServerChild implements AutoCloseable {

	private static final Duration TIMEOUT = Duration.ofSeconds(120);

	private final JavaProcess process;

	private final int port;

	private FencedServerChild(JavaProcess process) {
		this.process = process;
		this.port = Integer.parseInt(process.awaitLine("port ", TIMEOUT).substring(5));
	}

	static FencedServerChild start(String stack) {
		return new FencedServerChild(JavaProcess.of(FencedServerChild.class)
			.jvmArguments("-XX:TieredStopAtLevel=1")
			.start("--spring.main.web-application-type=" + stack, "--server.port=0", "--server.address=127.0.0.1",
					"--spring.main.banner-mode=off", "--spring.application.name=ledger", "--mutex.provider=memory",
					"--mutex.fenced.http.server.enabled=true", "--mutex.fenced.http.server.idempotency.enabled=true",
					"--mutex.fenced.http.server.idempotency.max-size=1KB"));
	}

	String uri(String path) {
		return "http://127.0.0.1:" + this.port + path;
	}

	List<String> output() {
		return this.process.output();
	}

	@Override
	public void close() {
		this.process.close();
	}

	public static void main(String[] args) {
		SpringApplication.run(Application.class, args);
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ TomcatServletWebServerAutoConfiguration.class, DispatcherServletAutoConfiguration.class,
			WebMvcAutoConfiguration.class, NettyReactiveWebServerAutoConfiguration.class,
			HttpHandlerAutoConfiguration.class, CodecsAutoConfiguration.class, WebFluxAutoConfiguration.class,
			MutexAutoConfiguration.class })
	static class Application {

		@Bean
		FenceGuard guard() {
			return new MemoryGuard();
		}

		// one request for each connection: Reactor Netty 1.3.6 may not read the next one
		// (reactor-netty#4361)
		@Bean
		NettyServerCustomizer oneRequest() {
			return (server) -> server.maxKeepAliveRequests(1);
		}

		@Bean
		Ledger ledger() {
			return new Ledger();
		}

		@Bean
		ApplicationListener<WebServerInitializedEvent> port() {
			return (event) -> System.out.println("port " + event.getWebServer().getPort());
		}

	}

	/**
	 * What the requests have an effect on.
	 */
	@RestController
	static class Ledger {

		private final List<String> entries = new CopyOnWriteArrayList<>();

		private final AtomicInteger failures = new AtomicInteger();

		private final Map<String, CountDownLatch> latches = new ConcurrentHashMap<>();

		@PostMapping("/ledger")
		ResponseEntity<String> write(@RequestBody String entry) {
			this.entries.add(entry);
			return ResponseEntity.status(HttpStatus.CREATED)
				.header("X-Entry", Integer.toString(this.entries.size()))
				.body("entry " + this.entries.size());
		}

		@GetMapping("/ledger")
		String read() {
			return String.join("\n", this.entries);
		}

		@PostMapping("/slow")
		String slow(@RequestBody String entry) throws InterruptedException {
			this.entries.add(entry);
			latch(entry).await();
			return entry + " done";
		}

		@PostMapping("/release")
		void release(@RequestBody String entry) {
			latch(entry).countDown();
		}

		private CountDownLatch latch(String entry) {
			return this.latches.computeIfAbsent(entry, (absent) -> new CountDownLatch(1));
		}

		@PostMapping("/failing")
		String failing(@RequestBody String entry) {
			if (this.failures.incrementAndGet() == 1) {
				throw new IllegalStateException("once");
			}
			this.entries.add(entry);
			return "done";
		}

		@PostMapping("/refused-at-commit")
		String refusedAtCommit(@RequestBody String resource) {
			throw new IllegalStateException(
					new StaleFencingTokenException(resource, new FencingToken(5), new FencingToken(6)));
		}

		@PostMapping("/lease")
		String lease(@RequestBody String ignored) {
			return Leases.current().map((lease) -> lease.fences().toString()).orElse("none");
		}

		@PostMapping("/large")
		String large(@RequestBody String entry) {
			this.entries.add(entry);
			return "x".repeat(5000);
		}

	}

}
