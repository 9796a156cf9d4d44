package understudy.api;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.Props;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.http.javadsl.ServerBinding;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;
import understudy.cluster.Cluster;
import understudy.cluster.ClusterListeners;
import understudy.cluster.ClusterSpec;
import understudy.cluster.Progress;
import understudy.cluster.ReplicaSpec;
import understudy.cluster.Router;
import understudy.report.RunRecord;
import understudy.runtime.EpochClock;
import understudy.runtime.VirtualTime;

/** An emulated cluster behind an OpenAI-compatible server. */
public final class EmulationServer implements AutoCloseable {
    private static final Duration START_LIMIT = Duration.ofSeconds(60);
    private static final Duration LINGER = Duration.ofMillis(300);

    private final @Nullable KvEventPublisher kvEvents;
    private final ActorSystem<Void> system;
    private final VirtualTime<Cluster.Command> time;
    private final ApiContext api;
    private final LiveFeed live;
    private final List<ServerBinding> bindings = new ArrayList<>();
    private final CompletableFuture<ActorRef<Router.Command>> router = new CompletableFuture<>();
    private final CompletableFuture<Void> failure = new CompletableFuture<>();

    private EmulationServer(
            ClusterSpec spec, double speed, ApiSettings settings, Optional<KvEventSettings> kvEventSettings) {
        // Before the actor system, which would else log into the void for a moment, and make slf4j complain about it.
        LoggerFactory.getLogger(EmulationServer.class);
        kvEvents = kvEventSettings
                .map(each -> new KvEventPublisher(each, spec.replicas().size(), EpochClock.seconds()))
                .orElse(null);
        system = ActorSystem.create(Behaviors.empty(), "understudy-http", config(settings));
        time = VirtualTime.create("understudy", clock -> Cluster.create(clock, new Progress(), new Watching()));
        time.whenStopped().whenComplete((done, error) -> {
            if (error != null) {
                failure.completeExceptionally(error);
            }
        });
        var registry = new PrometheusRegistry();
        var view = new LiveView(
                spec.replicas().size(), index -> spec.replica(index).kvCache().numGpuBlocks() - 1);
        var kvCaches = spec.replicas().stream().map(ReplicaSpec::kvCache).toList();
        var engineMetrics = new EngineMetrics(registry, settings, kvCaches, view);
        var httpMetrics = new HttpMetrics(registry);
        var state = new ServerState();
        httpMetrics.watch(time, state);
        var listeners = new ClusterListeners(
                kvEvents == null
                        ? null
                        : system.systemActorOf(KvEventPublisher.feed(kvEvents), "kv-events", Props.empty()),
                system.systemActorOf(engineMetrics.takingStats(), "engine-metrics", Props.empty()),
                system.systemActorOf(engineMetrics.takingSteps(), "step-metrics", Props.empty()));
        time.system().tell(new Cluster.Start(spec.heardBy(listeners)));
        time.run(speed);
        CompletableFuture.anyOf(router, failure)
                .orTimeout(START_LIMIT.toSeconds(), TimeUnit.SECONDS)
                .join();
        var link = new ClusterLink(
                time, system, router.join(), engineMetrics, spec.replicas().size());
        api = new ApiContext(system, settings, link, state, httpMetrics);
        var decisions = new RouterMetrics(registry, view).takingDecisions();
        link.router().tell(new Router.Watch(system.systemActorOf(decisions, "router-decisions", Props.empty())));
        live = new LiveFeed(api, view, spec.routing().getClass().getSimpleName());
    }

    /**
     * Starts a cluster and its server, and returns when it is ready.
     *
     * @param spec what to serve; whoever listens to it is not told
     * @param speed virtual seconds per wall second
     * @param kvEvents how to publish KV events, if at all
     * @param moreParts routes beside those of vLLM, tried after them
     */
    public static EmulationServer start(
            ClusterSpec spec,
            double speed,
            ApiSettings settings,
            Optional<KvEventSettings> kvEvents,
            Function<ApiContext, List<RoutePart>> moreParts) {
        var server = new EmulationServer(spec, speed, settings, kvEvents);
        try {
            server.listen(moreParts.apply(server.api));
        } catch (RuntimeException e) {
            server.close();
            throw e;
        }
        return server;
    }

    /** Starts a cluster and a server with the routes of vLLM only. */
    public static EmulationServer start(ClusterSpec spec, double speed, ApiSettings settings) {
        return start(spec, speed, settings, Optional.empty(), api -> List.of());
    }

    private void listen(List<RoutePart> moreParts) {
        var settings = api.settings();
        var tokenizer = Tokenizer.load(settings.model().vocabulary());
        var answers = new Answers(tokenizer, settings.model());
        var ids = new RequestIds(settings.model().seed());
        bind(settings.port(), Router.ANY_REPLICA, tokenizer, answers, ids, moreParts);
        if (settings.portsPerReplica()) {
            for (int i = 0; i < api.cluster().numReplicas(); i++) {
                int port = settings.port() == 0 ? 0 : settings.port() + 1 + i;
                bind(port, i, tokenizer, answers, ids, List.of());
            }
        }
        api.state().enter(ServerState.Phase.READY);
    }

    private void bind(
            int port, int replica, Tokenizer tokenizer, Answers answers, RequestIds ids, List<RoutePart> moreParts) {
        var settings = api.settings();
        var specs = new SpecBuilder(settings, api.cluster(), tokenizer, answers, replica);
        var parts = new ArrayList<RoutePart>(List.of(
                new GenerationRoutes(api, tokenizer, specs),
                new ResponsesRoutes(api, tokenizer, specs),
                new InfoRoutes(api, replica),
                new TokenRoutes(settings, tokenizer),
                new LivePageRoutes(live)));
        parts.addAll(moreParts);
        if (replica == Router.ANY_REPLICA) {
            var token = Optional.of(settings.adminToken()).filter(text -> !text.isEmpty());
            parts.add(new AdminRoutes(system, time.system(), new Controls(time), token)::route);
        }
        var server = new HttpServer(api, new ServerEdge(api, ids), parts);
        bindings.add(server.bind(settings.host(), port, settings.tls())
                .toCompletableFuture()
                .orTimeout(START_LIMIT.toSeconds(), TimeUnit.SECONDS)
                .join());
    }

    /** Returns what the parts of the server share. */
    public ApiContext api() {
        return api;
    }

    /** Returns the publisher of KV events, with the addresses to subscribe to; empty if there is none. */
    public Optional<KvEventPublisher> kvEvents() {
        return Optional.ofNullable(kvEvents);
    }

    /** Returns where the server listens. */
    public InetSocketAddress address() {
        return bindings.get(0).localAddress();
    }

    /** Returns where the replicas listen, in their order; empty unless each has a port of its own. */
    public List<InetSocketAddress> replicaAddresses() {
        return bindings.stream().skip(1).map(ServerBinding::localAddress).toList();
    }

    /** Completes, with an error, if the emulation fails. */
    public CompletableFuture<Void> whenFailed() {
        return failure;
    }

    /**
     * Ends gently: says that it is no longer ready, refuses what is new after a while, lets calls in flight end, and closes.
     * Calls that take longer than they may end with an error.
     */
    public void drain() {
        var timeouts = api.settings().timeouts();
        api.state().enter(ServerState.Phase.LEAVING);
        pause(timeouts.drainDelay());
        api.state().enter(ServerState.Phase.DRAINING);
        boolean isIdle = api.state()
                .whenIdle()
                .toCompletableFuture()
                .thenApply(done -> true)
                .completeOnTimeout(false, timeouts.drain().toMillis(), TimeUnit.MILLISECONDS)
                .join();
        if (!isIdle) {
            api.state().failAll(new ApiException(503, "ServiceUnavailable", "The server is shutting down.", null));
        }
        // A response that has left us may still be in the hands of the HTTP library, which would drop it.
        pause(LINGER);
        close();
    }

    private static void pause(Duration duration) {
        new CompletableFuture<Void>()
                .completeOnTimeout(null, duration.toMillis(), TimeUnit.MILLISECONDS)
                .join();
    }

    /** Closes all connections and ends the emulation. */
    @Override
    public void close() {
        for (var binding : bindings) {
            // Responses that are complete get a moment to leave.
            binding.terminate(Duration.ofSeconds(1)).toCompletableFuture().join();
        }
        time.close();
        if (kvEvents != null) {
            kvEvents.close();
        }
        system.terminate();
        system.getWhenTerminated().toCompletableFuture().join();
    }

    private static Config config(ApiSettings settings) {
        var limits = settings.requestLimits();
        String text =
                """
                pekko {
                  loggers = ["org.apache.pekko.event.slf4j.Slf4jLogger"]
                  logging-filter = "org.apache.pekko.event.slf4j.Slf4jLoggingFilter"
                  loglevel = WARNING
                  stdout-loglevel = OFF
                  log-dead-letters = off
                  jvm-shutdown-hooks = off
                  coordinated-shutdown.run-by-jvm-shutdown-hook = off
                  # As many threads as cores, not eight: more only get in the way of the emulation's. Connections are
                  # served by the same threads as streams: another pool would have to be woken for every token.
                  actor.default-dispatcher.fork-join-executor { parallelism-min = 2, parallelism-factor = 1.0 }
                  actor.internal-dispatcher.fork-join-executor { parallelism-min = 2, parallelism-factor = 1.0 }
                  io.tcp.worker-dispatcher = "pekko.actor.default-dispatcher"
                  # Streams gather what has piled up themselves; looking out for more costs ten messages for each token.
                  stream.materializer.io.tcp.coalesce-writes = 0
                  http.server {
                    server-header = "understudy"
                    idle-timeout = %d ms
                    request-timeout = infinite
                    max-connections = %d
                    backlog = 4096
                    # Two, so that the end of a connection is noticed while an answer is under way.
                    pipelining-limit = 2
                    socket-options.tcp-no-delay = true
                    parsing.max-content-length = %d
                    parsing.illegal-header-warnings = off
                  }
                }
                """.formatted(settings.timeouts().idle().toMillis(), limits.maxConnections(), limits.maxBodyBytes());
        var classLoader = EmulationServer.class.getClassLoader();
        return ConfigFactory.parseString(text).withFallback(ConfigFactory.load(classLoader));
    }

    private record Controls(VirtualTime<?> time) implements ClockControl {
        @Override
        public void run(double speed) {
            time.run(speed);
        }

        @Override
        public void pause() {
            time.pause();
        }

        @Override
        public long step() {
            return time.step();
        }

        @Override
        public void advance(Duration duration) {
            time.advance(duration);
        }
    }

    /** Called on the loop. */
    private final class Watching implements Cluster.Observer {
        @Override
        public void onStarted(ActorRef<Router.Command> started) {
            router.complete(started);
        }

        @Override
        public void onEnded(RunRecord run) {}

        @Override
        public void onFailed(Throwable cause) {
            failure.completeExceptionally(cause);
        }
    }
}
