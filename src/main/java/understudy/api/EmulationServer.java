package understudy.api;

import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.SortedMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.apache.pekko.Done;
import org.apache.pekko.actor.CoordinatedShutdown;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;
import understudy.api.call.AdmissionControl;
import understudy.api.call.ApiContext;
import understudy.api.call.ApiContextBuilder;
import understudy.api.call.ApiSettings;
import understudy.api.call.ClusterControl;
import understudy.api.call.ClusterLink;
import understudy.api.call.KeptKv;
import understudy.api.call.LoraAdapters;
import understudy.api.call.MalformedStreams;
import understudy.api.call.RequestRecorder;
import understudy.api.call.ServerState;
import understudy.api.call.Sessions;
import understudy.api.http.ApiException;
import understudy.api.http.HttpBodies;
import understudy.api.http.HttpMetrics;
import understudy.api.http.RoutePart;
import understudy.api.kvevents.KvEventNames;
import understudy.api.kvevents.KvEventPublisher;
import understudy.api.kvevents.KvEventSettings;
import understudy.api.live.LiveFeed;
import understudy.api.live.LiveReplica;
import understudy.api.live.LiveView;
import understudy.api.metrics.AdmissionMetrics;
import understudy.api.metrics.EngineMetrics;
import understudy.api.metrics.RouterMetrics;
import understudy.api.sglang.SchedulerReports;
import understudy.api.sidechannel.PushRooms;
import understudy.api.sidechannel.SideChannelClient;
import understudy.api.sidechannel.SideChannelServer;
import understudy.cluster.Cluster;
import understudy.cluster.ClusterEvent;
import understudy.cluster.ClusterSpec;
import understudy.cluster.Router;
import understudy.faults.ReplicaState;
import understudy.host.ClusterHost;
import understudy.runtime.EpochClock;

/** An emulated cluster behind an OpenAI-compatible server. */
public final class EmulationServer implements AutoCloseable {
    private static final Duration LINGER = Duration.ofMillis(300);

    /** Time for the actor system to end; one of which a thread has died never does. */
    private static final Duration END_LIMIT = Duration.ofSeconds(10);

    private final ClusterHost host;
    private final boolean ownsHost;
    private final @Nullable KvEventPublisher kvEvents;
    private final ActorSystem<Void> system;
    private final ApiContext api;
    private final HttpPorts ports;
    private final ClusterSpec spec;
    private final PushRooms rooms;
    private final CompletableFuture<HttpPorts> listening = new CompletableFuture<>();
    private @Nullable UnixSocket unixSocket;
    private OptionalInt sideChannelPort = OptionalInt.empty();
    private volatile List<ReplicaState> states = List.of();
    private volatile boolean isClosing;

    private EmulationServer(
            ClusterHost host,
            boolean ownsHost,
            ClusterSpec spec,
            ApiSettings settings,
            @Nullable KvEventPublisher kvEvents,
            @Nullable RequestRecorder recorder,
            ClusterEvent.@Nullable Subscriber alsoTold,
            UnaryOperator<ActorRef<Router.Command>> interceptor) {
        this.host = host;
        this.ownsHost = ownsHost;
        this.kvEvents = kvEvents;
        this.spec = spec;
        system = ActorSystem.create(Behaviors.empty(), "understudy-http", HttpServer.config(settings.http()));
        var registry = new PrometheusRegistry();
        var view = new LiveView(spec.replicas().size(), index -> LiveReplica.Kind.of(spec.replica(index)));
        var engineMetrics = new EngineMetrics(registry, settings, spec);
        var reports = new SchedulerReports(spec);
        var httpMetrics = new HttpMetrics(registry, settings.absent().families());
        var state = new ServerState();
        httpMetrics.watch(host.time(), state::numInFlight);
        var routerMetrics = new RouterMetrics(registry);
        var malformedStreams = new MalformedStreams(spec.faults().streams());
        // On a thread of its own, not to hold up the emulation; unless that stands still for those who look at it.
        ActorSystem<?> home = ownsHost ? system : host.time().system();
        var readers = new ArrayList<Consumer<ClusterEvent>>(List.of(
                engineMetrics::on, view::on, reports::on, routerMetrics::on, malformedStreams::on, this::onReplicas));
        if (kvEvents != null) {
            readers.add(kvEvents::accept);
            kvEvents.whenFailed().whenComplete((cause, none) -> host.fail(cause));
        }
        Optional.ofNullable(alsoTold).ifPresent(told -> readers.add(told.ref()::tell));
        var details = EnumSet.of(ClusterEvent.Detail.KV_CACHES, ClusterEvent.Detail.CHOICES);
        if (kvEvents != null) {
            details.add(ClusterEvent.Detail.KV_EVENTS);
        }
        Optional.ofNullable(alsoTold).ifPresent(told -> details.addAll(told.details()));
        var subscriber =
                new ClusterEvent.Subscriber(host.spawn(home, telling(readers), "cluster-events"), Set.copyOf(details));
        rooms = new PushRooms(host.time());
        host.start(new Cluster.Start(spec, subscriber, SideChannelClient.start(host, system, settings, rooms)));
        var watchers = new ArrayList<ClusterLink.Watcher>(List.of(engineMetrics, malformedStreams));
        Optional.ofNullable(recorder).ifPresent(watchers::add);
        var router = interceptor.apply(host.router());
        var keptKv = new KeptKv(host, system);
        var admission = new AdmissionControl(settings.admission(), AdmissionMetrics.register(registry, settings));
        var link = new ClusterLink(host, system, router, keptKv, admission, watchers);
        var control = new ClusterControl(host, system, router, spec.replicas().size());
        var bodies = new HttpBodies(system, settings.http());
        api = ApiContextBuilder.builder()
                .system(system)
                .settings(settings)
                .cluster(control)
                .link(link)
                .keptKv(keptKv)
                .state(state)
                .metrics(httpMetrics)
                .bodies(bodies)
                .sessions(new Sessions())
                .loras(new LoraAdapters(settings.loras()))
                .build();
        ports = new HttpPorts(api, spec, new LiveFeed(api, view, spec.router().policyName()), reports);
        host.whenFailed().exceptionally(cause -> {
            state.enter(ServerState.Phase.FAILED);
            state.failAll(ApiException.failed());
            return null;
        });
        // As soon as it begins to end: it may never get to its end if one of its threads has died.
        CoordinatedShutdown.get(system).addTask(CoordinatedShutdown.PhaseBeforeServiceUnbind(), "report", () -> {
            if (!isClosing) {
                host.fail(new IllegalStateException("the HTTP server has ended by itself; see the log"));
            }
            return CompletableFuture.completedFuture(Done.getInstance());
        });
    }

    /**
     * Starts a cluster and its server, and returns when it is ready.
     *
     * @param spec specification of the cluster to serve
     * @param speed virtual seconds per wall second
     * @param kvEvents how to publish KV events, if at all
     * @param recorder is told of all requests, and stays the caller's; null if there is none
     * @param moreParts routes beside those of vLLM, tried after them
     */
    public static EmulationServer start(
            ClusterSpec spec,
            double speed,
            ApiSettings settings,
            Optional<KvEventSettings> kvEvents,
            @Nullable RequestRecorder recorder,
            Function<ApiContext, List<RoutePart>> moreParts) {
        // Before the actor systems, which would else log into the void for a moment, and make slf4j complain about it.
        LoggerFactory.getLogger(EmulationServer.class);
        var publisher = kvEvents.map(
                        each -> new KvEventPublisher(each, spec.replicas().size(), EpochClock.seconds()))
                .orElse(null);
        var host = ClusterHost.create("understudy");
        var server = new EmulationServer(host, true, spec, settings, publisher, recorder, null, router -> router);
        host.time().run(speed);
        server.listen(moreParts);
        return server;
    }

    /** Starts a cluster and a server with the routes of vLLM only. */
    public static EmulationServer start(ClusterSpec spec, double speed, ApiSettings settings) {
        return start(spec, speed, settings, Optional.empty(), null, api -> List.of());
    }

    /**
     * Starts a cluster in a host that stays the caller's, and a server before it. The clock is left as it is. While it
     * stands still, requests arrive, and nothing more happens until the caller moves it.
     *
     * @param spec specification of the cluster to serve
     * @param subscriber receives the cluster's events beside the server, or null
     * @param interceptor returns the actor that gets requests from HTTP, and passes them on to the given router
     */
    public static EmulationServer attach(
            ClusterHost host,
            ClusterSpec spec,
            ApiSettings settings,
            ClusterEvent.@Nullable Subscriber subscriber,
            UnaryOperator<ActorRef<Router.Command>> interceptor) {
        var server = new EmulationServer(host, false, spec, settings, null, null, subscriber, interceptor);
        server.listen(api -> List.of());
        return server;
    }

    private void listen(Function<ApiContext, List<RoutePart>> moreParts) {
        try {
            sideChannelPort = SideChannelServer.open(api, spec, rooms);
            ports.open(moreParts.apply(api));
            var path = api.settings().http().unixSocket();
            if (path != null) {
                unixSocket = UnixSocket.open(path, ports.address());
            }
        } catch (RuntimeException e) {
            close();
            throw e;
        }
        if (kvEvents != null) {
            announce(kvEvents);
        }
        listening.complete(ports);
        api.state().enter(ServerState.Phase.READY);
        // Applies the changes of replicas that came before the ports were there.
        ports.follow(states);
    }

    /** Returns an actor that hands each event to all readers. */
    private static Behavior<ClusterEvent> telling(List<Consumer<ClusterEvent>> readers) {
        return Behaviors.receiveMessage(event -> {
            readers.forEach(reader -> reader.accept(event));
            return Behaviors.same();
        });
    }

    private void onReplicas(ClusterEvent event) {
        if (event instanceof ClusterEvent.ReplicasChanged changed) {
            states = changed.states();
            var open = listening.getNow(null);
            if (open != null) {
                open.follow(states);
            }
        }
    }

    /** Sets this server's names on a publisher of KV events, for its topics. */
    public void announce(KvEventPublisher publisher) {
        publisher.publishUnder(
                KvEventNames.of(api.settings().http().host(), api.settings().servedModel(), ports::portOf));
    }

    /** Returns the state that the parts of the server share. */
    public ApiContext api() {
        return api;
    }

    /** Returns the publisher of KV events, with the addresses to subscribe to; empty if there is none. */
    public Optional<KvEventPublisher> kvEvents() {
        return Optional.ofNullable(kvEvents);
    }

    /** Returns where the server listens. */
    public InetSocketAddress address() {
        return ports.address();
    }

    /** Returns the port at which other processes ask for KV; empty if none do. */
    public OptionalInt sideChannelPort() {
        return sideChannelPort;
    }

    /** Returns where the replicas listen now, by index; empty unless each has a port of its own. */
    public SortedMap<Integer, InetSocketAddress> replicaAddresses() {
        return ports.replicaAddresses();
    }

    /** Completes, with an error, if the emulation fails. */
    public CompletableFuture<Void> whenFailed() {
        return host.whenFailed();
    }

    /**
     * Shuts down gracefully: ends readiness, refuses new calls after a while, lets calls in flight end, and closes.
     * Calls that take longer than they may end with an error.
     */
    public void drain() {
        var timeouts = api.settings().http().timeouts();
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
            api.state().failAll(ApiException.shuttingDown());
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

    /** Closes all connections and, if the server owns it, ends the emulation. */
    @Override
    public void close() {
        isClosing = true;
        if (unixSocket != null) {
            unixSocket.close();
        }
        ports.close();
        if (ownsHost) {
            host.close();
        }
        if (kvEvents != null) {
            kvEvents.close();
        }
        system.terminate();
        system.getWhenTerminated()
                .toCompletableFuture()
                .completeOnTimeout(Done.getInstance(), END_LIMIT.toSeconds(), TimeUnit.SECONDS)
                .join();
    }
}
