package understudy.testkit;

import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import understudy.api.EmulationServer;
import understudy.api.kvevents.KvEventPublisher;
import understudy.cluster.Cluster;
import understudy.cluster.ClusterEvent;
import understudy.cluster.KvBlockManager;
import understudy.cluster.Router;
import understudy.engine.SamplingParams;
import understudy.faults.ClusterChange;
import understudy.faults.ReplicaOrder;
import understudy.faults.ReplicaState;
import understudy.faults.RequestFault;
import understudy.host.ClusterHost;
import understudy.prompt.Prompt;
import understudy.report.Invariants;
import understudy.report.RunReport;
import understudy.runtime.VirtualTime;
import understudy.scenario.EmbeddedScenario;

/**
 * A whole cluster inside a test. Settings are those of a scenario; what they do not say is as in {@code
 * understudy-defaults.conf}.
 *
 * <pre>{@code
 * try (var cluster = EmulatedCluster.startPaused("cluster.replicas = 2, router.policy = least-outstanding")) {
 *     var first = cluster.submit(1000, 20);
 *     cluster.advance(Duration.ofMillis(100));
 *     cluster.inject(new Fault.Crash(first.replicaIndex()));
 *     var second = cluster.submit(1000, 20);
 *     cluster.advance(Duration.ofSeconds(10));
 *
 *     assertEquals(RequestEvent.FailureCause.CRASH, first.failed().cause());
 *     assertEquals(20, second.finished().numOutputTokens());
 *     cluster.check().hasCompleted(1).hasFailed(1).hasState(0, ReplicaState.DOWN);
 * }
 * }</pre>
 *
 * <p>Served, the cluster also has an OpenAI-compatible HTTP server, at any free port of 127.0.0.1 unless the settings
 * say otherwise. With a clock that runs as fast as possible (the default) an answer comes at once, with {@code
 * clock.speed = 1} its tokens come as those of a real cluster would. With a paused clock a test sends its calls from
 * other threads, or asynchronously, and moves the time when they have come:
 *
 * <pre>{@code
 * try (var cluster = EmulatedCluster.servePaused("cluster.replicas = 2")) {
 *     var answer = client.sendAsync(request, BodyHandlers.ofString());
 *     cluster.awaitRequests(1);
 *     cluster.advance(Duration.ofSeconds(10));
 *
 *     assertEquals(200, answer.join().statusCode());
 *     cluster.check().hasCompleted(1).hasMetric("vllm:generation_tokens_total", 20);
 * }
 * }</pre>
 *
 * <p>Paused, the clock moves by {@link #advance} and {@link #step} only, which return when all their consequences have
 * happened, as {@link #inject} does; requests sent in between arrive together. Started, it goes as {@code clock.speed}
 * says: as fast as possible, or at wall-clock pace. One thread at a time may use it.
 */
public final class EmulatedCluster implements AutoCloseable {
    private final EmbeddedScenario scenario;
    private final ClusterHost host = ClusterHost.create("emulated-cluster");
    private final VirtualTime<Cluster.Command> time = host.time();
    private final RequestSender sender;
    private final @Nullable KvEventPublisher kvEvents;
    private final @Nullable HttpFront http;
    private boolean isPaused = true;

    private EmulatedCluster(EmbeddedScenario scenario, boolean hasHttp) {
        this.scenario = scenario;
        KvEventPublisher publisher = null;
        try {
            publisher = scenario.kvEvents()
                    .map(settings -> new KvEventPublisher(settings, scenario.numReplicas(), 0))
                    .orElse(null);
            sender = new RequestSender(host);
            var feed = publisher == null ? null : host.spawn(KvEventPublisher.feed(publisher), "kv-events");
            var subscriber =
                    feed == null ? null : new ClusterEvent.Subscriber(feed, Set.of(ClusterEvent.Detail.KV_EVENTS));
            http = hasHttp ? new HttpFront(host, scenario, subscriber) : null;
            if (http == null) {
                host.start(scenario.clusterSpec(), subscriber);
            } else if (publisher != null) {
                http.server().announce(publisher);
            }
        } catch (RuntimeException e) {
            close(host, publisher);
            throw e;
        }
        kvEvents = publisher;
    }

    private static void close(ClusterHost host, @Nullable KvEventPublisher kvEvents) {
        host.close();
        if (kvEvents != null) {
            kvEvents.close();
        }
    }

    /** Starts a cluster whose clock runs by itself, from settings in HOCON. */
    public static EmulatedCluster start(String settings) {
        return running(startPaused(settings));
    }

    /** Starts a cluster at virtual time 0, whose clock stands still, from settings in HOCON. */
    public static EmulatedCluster startPaused(String settings) {
        return create(settings, false);
    }

    /** Starts a cluster behind an HTTP server, whose clock runs by itself, from settings in HOCON. */
    public static EmulatedCluster serve(String settings) {
        return running(servePaused(settings));
    }

    /** Starts a cluster behind an HTTP server at virtual time 0, whose clock stands still, from settings in HOCON. */
    public static EmulatedCluster servePaused(String settings) {
        return create(settings, true);
    }

    private static EmulatedCluster running(EmulatedCluster paused) {
        paused.resume();
        return paused;
    }

    private static EmulatedCluster create(String settings, boolean hasHttp) {
        return new EmulatedCluster(EmbeddedScenario.of(settings), hasHttp);
    }

    /** Returns where the HTTP server listens, such as {@code http://127.0.0.1:40321}. */
    public URI uri() {
        return http().uri();
    }

    /** Returns the HTTP server. */
    public EmulationServer server() {
        return http().server();
    }

    /**
     * Waits until so many requests have come in over HTTP since the start; one call may bring several, by its {@code n}
     * or its prompts. Then the clock may be moved without leaving any of them behind.
     *
     * @throws AssertionError if they do not come within 20 s of wall time, or are refused by the server
     */
    public void awaitRequests(long count) {
        http().awaitRequests(count);
    }

    /**
     * Returns what {@code /metrics} shows by now.
     *
     * @param name of the series, such as {@code vllm:generation_tokens_total}
     * @param label text that the labels must contain, such as {@code engine="0"}; all series of that name that do are
     *     added up
     */
    public double metric(String name, String label) {
        return http().metric(name, label);
    }

    private HttpFront http() {
        if (http == null) {
            throw new IllegalStateException("this cluster has no HTTP server; start it by serve or servePaused");
        }
        return http;
    }

    /** Sends a request whose prompt is like no other one's; its answer has exactly {@code numOutputTokens} tokens. */
    public EmulatedRequest submit(int numPromptTokens, int numOutputTokens) {
        return sender.submit(numPromptTokens, numOutputTokens);
    }

    /** Sends a request whose answer has exactly {@code numOutputTokens} tokens. */
    public EmulatedRequest submit(Prompt prompt, int numOutputTokens) {
        return submit(prompt, SamplingParams.ofMaxTokens(numOutputTokens), RequestFault.NONE);
    }

    /** Sends a request that runs into its limit of tokens, unless the fault ends it before. */
    public EmulatedRequest submit(Prompt prompt, SamplingParams sampling, RequestFault fault) {
        return sender.submit(prompt, sampling, fault);
    }

    /** Gives up a request, wherever it is; nothing happens if it has ended. */
    public void abort(EmulatedRequest request) {
        time.post(() -> host.router().tell(new Router.Abort(request.id())));
        if (isPaused) {
            advance(Duration.ZERO);
        }
    }

    /** Drops the cached content of all replicas; refused, with false, while any holds a block for a request. */
    public boolean resetPrefixCache() {
        var order = new ReplicaOrder.ResetPrefixCache(false);
        return host.<Router.Command, Router.AllDone>ask(
                        host.router(), ref -> new Router.Order(OptionalInt.empty(), order, ref))
                .isDone();
    }

    /**
     * Changes the cluster by a fault or an operation.
     *
     * @throws IllegalStateException if that cannot be, because a replica is down for instance
     */
    public void inject(ClusterChange change) {
        var injected = host.<Cluster.Injected>ask(ref -> new Cluster.Inject(change, ref));
        injected.refusal().ifPresent(why -> {
            throw new IllegalStateException(why);
        });
        if (isPaused) {
            advance(Duration.ZERO);
        }
    }

    /** Returns the state of each replica, by index. */
    public List<ReplicaState> states() {
        return host.<Cluster.Status>ask(Cluster.GetStatus::new).replicas();
    }

    /** Returns the hashes of what a replica has cached, in no particular order; content held twice is there twice. */
    public long[] blockHashes(int replicaIndex) {
        return host.<KvBlockManager.BlockHashes>ask(ref -> new Cluster.GetBlockHashes(replicaIndex, ref))
                .hashes()
                .toLongArray();
    }

    /** Returns the figures so far. */
    public RunReport report() {
        return host.<RunReport>ask(Cluster.GetReport::new);
    }

    /** Begins assertions about the figures so far and the replicas' states. */
    public ClusterCheck check() {
        return new ClusterCheck(report(), states(), this);
    }

    /** Returns the publisher of KV events, with the addresses to subscribe to; empty if the settings ask for none. */
    public Optional<KvEventPublisher> kvEvents() {
        return Optional.ofNullable(kvEvents);
    }

    /** Stops the clock, and runs everything that is due within {@code duration}. */
    public void advance(Duration duration) {
        isPaused = true;
        time.advance(duration);
        host.throwFailure();
    }

    /**
     * Stops the clock, jumps to the next instant at which something is due, and returns its virtual time in
     * nanoseconds.
     */
    public long step() {
        isPaused = true;
        long nowNanos = time.step();
        host.throwFailure();
        return nowNanos;
    }

    /** Stops the clock; messages are still delivered. */
    public void pause() {
        isPaused = true;
        time.pause();
    }

    /** Lets the clock run by itself, as fast as {@code clock.speed} says. */
    public void resume() {
        isPaused = false;
        time.run(scenario.speed());
    }

    /** Returns the virtual time, in nanoseconds since the start. */
    public long nowNanos() {
        return time.nowNanos();
    }

    /**
     * Ends the cluster, requests and all.
     *
     * @throws AssertionError if the emulation has broken one of its own laws, such as the conservation of requests
     */
    @Override
    public void close() {
        try {
            if (http != null) {
                http.close();
            }
            var broken = Invariants.check(host.stop());
            if (!broken.isEmpty()) {
                throw new AssertionError("the emulation has broken its laws: " + broken);
            }
        } finally {
            close(host, kvEvents);
        }
    }
}
