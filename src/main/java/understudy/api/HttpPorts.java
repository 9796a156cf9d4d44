package understudy.api;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.http.javadsl.ServerBinding;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import understudy.cluster.Router;
import understudy.workload.ReplicaState;

/** Where a server listens: one port for the cluster, and, if wanted, one for each replica, which comes and goes with it. */
final class HttpPorts implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(HttpPorts.class);
    private static final Duration BIND_LIMIT = Duration.ofSeconds(60);

    private final ApiContext api;
    private final LiveFeed live;
    private final ServerEdge edge;
    private final Tokenizer tokenizer;
    private final Answers answers;
    private final SortedMap<Integer, ServerBinding> ofReplicas = new TreeMap<>();
    private final Set<Integer> opening = new HashSet<>();
    private @Nullable ServerBinding ofCluster;
    private boolean isClosed;

    HttpPorts(ApiContext api, LiveFeed live) {
        this.api = api;
        this.live = live;
        var model = api.settings().model();
        edge = new ServerEdge(api, new RequestIds(model.seed()));
        tokenizer = Tokenizer.load(model.vocabulary());
        answers = new Answers(tokenizer, model);
    }

    /**
     * Opens the port of the cluster, and those of the replicas that it starts with; throws if one cannot be had.
     *
     * @param moreParts routes of the cluster's port beside those of vLLM, tried after them
     */
    void open(List<RoutePart> moreParts) {
        ofCluster = join(bind(Router.ANY_REPLICA, moreParts));
        if (api.settings().portsPerReplica()) {
            for (int i = 0; i < api.cluster().numReplicas(); i++) {
                keep(i, join(bind(i, List.of())));
            }
        }
    }

    private static ServerBinding join(CompletionStage<ServerBinding> binding) {
        return binding.toCompletableFuture()
                .orTimeout(BIND_LIMIT.toSeconds(), TimeUnit.SECONDS)
                .join();
    }

    private CompletionStage<ServerBinding> bind(int replica, List<RoutePart> moreParts) {
        var settings = api.settings();
        var specs = new SpecBuilder(settings, api.cluster(), tokenizer, answers, replica);
        var time = api.cluster().time();
        var parts = new ArrayList<RoutePart>(List.of(
                new GenerationRoutes(api, tokenizer, specs),
                new ResponsesRoutes(api, tokenizer, specs),
                new InfoRoutes(api, replica),
                new TokenRoutes(api, tokenizer),
                new LivePageRoutes(live),
                // At every port, since the live page is, and its controls need them.
                new AdminRoutes(api.system(), time.system(), new VirtualClockControl(time))::route));
        parts.addAll(moreParts);
        int port =
                settings.port() == 0 || replica == Router.ANY_REPLICA ? settings.port() : settings.port() + 1 + replica;
        return new HttpServer(api, edge, parts).bind(settings.host(), port, settings.tls());
    }

    /** Opens ports for replicas that have joined, and closes those of replicas that were removed; calls in flight go on. */
    synchronized void follow(List<ReplicaState> states) {
        for (int i = 0; i < states.size() && !isClosed; i++) {
            boolean isOpen = ofReplicas.containsKey(i) || opening.contains(i);
            if (states.get(i) == ReplicaState.REMOVED) {
                opening.remove(i);
                unbind(ofReplicas.remove(i));
            } else if (!isOpen && states.get(i) != ReplicaState.STARTING) {
                openLater(i);
            }
        }
    }

    private void openLater(int replica) {
        opening.add(replica);
        bind(replica, List.of()).whenComplete((binding, error) -> {
            if (error == null) {
                keep(replica, binding);
            } else {
                LOG.error("no port for replica {}: {}", replica, error.getMessage());
            }
        });
    }

    /** Keeps a port that is open now, unless nobody wants it any more. */
    private synchronized void keep(int replica, ServerBinding binding) {
        boolean isWanted =
                !isClosed && (opening.remove(replica) || replica < api.cluster().numReplicas());
        if (isWanted) {
            ofReplicas.put(replica, binding);
        } else {
            unbind(binding);
        }
    }

    private static void unbind(@Nullable ServerBinding binding) {
        if (binding != null) {
            binding.unbind();
        }
    }

    /** Returns the port of the cluster, once it is open. */
    InetSocketAddress address() {
        if (ofCluster == null) {
            throw new IllegalStateException("the server does not listen yet");
        }
        return ofCluster.localAddress();
    }

    /** Returns where replicas listen, by index. */
    synchronized SortedMap<Integer, InetSocketAddress> replicaAddresses() {
        var addresses = new TreeMap<Integer, InetSocketAddress>();
        ofReplicas.forEach((replica, binding) -> addresses.put(replica, binding.localAddress()));
        return addresses;
    }

    /** Closes all ports and connections; responses that are complete get a moment to leave. */
    @Override
    public void close() {
        for (var binding : takeAll()) {
            binding.terminate(Duration.ofSeconds(1)).toCompletableFuture().join();
        }
    }

    private synchronized List<ServerBinding> takeAll() {
        isClosed = true;
        var all = new ArrayList<>(ofReplicas.values());
        ofReplicas.clear();
        if (ofCluster != null) {
            all.add(ofCluster);
        }
        return all;
    }
}
