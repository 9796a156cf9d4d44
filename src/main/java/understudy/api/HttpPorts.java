package understudy.api;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.http.javadsl.ServerBinding;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import understudy.api.admin.AdminRoutes;
import understudy.api.admin.VirtualClockControl;
import understudy.api.anthropic.MessagesRoutes;
import understudy.api.call.ApiContext;
import understudy.api.call.ApiSettings.DownReplicas;
import understudy.api.call.LoraChanges;
import understudy.api.dev.DevRoutes;
import understudy.api.dev.DocsRoutes;
import understudy.api.dev.EngineSleep;
import understudy.api.dev.ServerInfo;
import understudy.api.dev.ServerInfoRoutes;
import understudy.api.dev.SleepRoutes;
import understudy.api.http.Dialect;
import understudy.api.http.GuardedHttp;
import understudy.api.http.RequestIds;
import understudy.api.http.RoutePart;
import understudy.api.live.LiveFeed;
import understudy.api.live.LivePageRoutes;
import understudy.api.model.Answers;
import understudy.api.model.Tokenizer;
import understudy.api.openai.BatchRoutes;
import understudy.api.openai.CallParser;
import understudy.api.openai.GenerationRoutes;
import understudy.api.openai.InfoRoutes;
import understudy.api.openai.LoraRoutes;
import understudy.api.openai.PromptLimit;
import understudy.api.openai.RenderRoutes;
import understudy.api.openai.ResponsesRoutes;
import understudy.api.openai.SpecBuilder;
import understudy.api.openai.TokenRoutes;
import understudy.api.openai.TokensRoutes;
import understudy.api.openai.VllmDialect;
import understudy.api.pooling.EmbeddingRoutes;
import understudy.api.pooling.ScoreRoutes;
import understudy.api.sglang.AdapterRoutes;
import understudy.api.sglang.EngineRoutes;
import understudy.api.sglang.GenerateRoutes;
import understudy.api.sglang.LoadRoutes;
import understudy.api.sglang.ModelRoutes;
import understudy.api.sglang.OllamaRoutes;
import understudy.api.sglang.OpenAiRoutes;
import understudy.api.sglang.PoolingRoutes;
import understudy.api.sglang.SchedulerReports;
import understudy.api.sglang.SglangDialect;
import understudy.api.sglang.SglangLengths;
import understudy.api.sglang.TokenizeRoutes;
import understudy.cluster.ClusterSpec;
import understudy.cluster.ReplicaSpec;
import understudy.engine.EngineTraits.Feature;
import understudy.faults.ReplicaState;
import understudy.routing.Role;

/**
 * Ports of a server: one for the cluster, and, if wanted, one for each replica. A replica that is not up refuses
 * connections, as a process that has died or does not listen yet does; unless it is to keep its port and say on {@code
 * /health} how it is.
 */
final class HttpPorts implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(HttpPorts.class);
    private static final Duration BIND_LIMIT = Duration.ofSeconds(60);

    private static final Duration CLOSE_LIMIT = Duration.ofSeconds(5);

    /** Delay before another try at a port that was taken, and the number of tries. */
    private static final Duration RETRY = Duration.ofMillis(500);

    private static final int MAX_TRIES = 60;

    /** Time for errors of calls in flight to leave when a replica crashes. */
    private static final Duration LAST_WORDS = Duration.ofMillis(100);

    private final ApiContext api;
    private final ClusterSpec spec;
    private final LiveFeed live;
    private final SchedulerReports reports;
    private final ServerEdge edge;
    private final Tokenizer tokenizer;
    private final Answers answers;
    private final EngineSleep sleep;
    private final GuardedHttp http;
    private final SortedMap<Integer, ServerBinding> ofReplicas = new TreeMap<>();
    private final Map<Integer, Integer> numbers = new HashMap<>();
    private final Set<Integer> wanted = new HashSet<>();
    private final Set<Integer> opening = new HashSet<>();
    private @Nullable ServerBinding ofCluster;
    private boolean isClosed;

    HttpPorts(ApiContext api, ClusterSpec spec, LiveFeed live, SchedulerReports reports) {
        this.api = api;
        this.spec = spec;
        this.live = live;
        this.reports = reports;
        var model = api.settings().model();
        edge = new ServerEdge(api, new RequestIds(model.seed()), hasSglang(OptionalInt.empty()));
        tokenizer = model.tokenizer().load();
        answers = new Answers(tokenizer, model);
        sleep = new EngineSleep(api.cluster());
        http = GuardedHttp.of(api.system());
    }

    /**
     * Opens the port of the cluster, and those of the replicas that it starts with; throws if one cannot be had.
     *
     * @param moreParts routes of the cluster's port beside those of vLLM, tried after them
     */
    void open(List<RoutePart> moreParts) {
        ofCluster = join(bind(OptionalInt.empty(), moreParts));
        if (api.settings().portsPerReplica()) {
            for (int i = 0; i < api.cluster().numReplicas(); i++) {
                wanted.add(i);
                keep(i, join(bind(OptionalInt.of(i), List.of())));
            }
        }
    }

    private static ServerBinding join(CompletionStage<ServerBinding> binding) {
        return binding.toCompletableFuture()
                .orTimeout(BIND_LIMIT.toSeconds(), TimeUnit.SECONDS)
                .join();
    }

    private CompletionStage<ServerBinding> bind(OptionalInt replica, List<RoutePart> moreParts) {
        var settings = api.settings();
        var role = role(replica);
        var specs = new SpecBuilder(
                settings, api.link(), api.loras(), tokenizer, answers, replica, role, PromptLimit.OF_VLLM);
        var parser = new CallParser(api, tokenizer, specs);
        var time = api.cluster().time();
        boolean isSglangAlone = behind(replica).stream().allMatch(HttpPorts::isSglang);
        var info = new InfoRoutes(api, replica, isSglangAlone);
        var adapters = new LoraChanges(api, replica);
        var parts = new ArrayList<RoutePart>();
        if (hasSglang(replica)) {
            // Before vLLM's, of which some have the same path.
            var ofSglang = new CallParser(api, tokenizer, specs.refusing(new SglangLengths()));
            parts.addAll(sglangRoutes(ofSglang, replica, info, isSglangAlone));
            parts.add(new AdapterRoutes(api, adapters, replica));
        }
        parts.addAll(modelRoutes(parser, specs));
        parts.addAll(List.of(
                new RenderRoutes(api, parser),
                info,
                new LoraRoutes(api, adapters),
                new ServerInfoRoutes(new ServerInfo(settings, spec.replica(replica.orElse(0))), byIndex(replica)),
                new SleepRoutes(sleep, replica),
                new TrailingSlashes(),
                new TokenRoutes(api, tokenizer),
                new LivePageRoutes(live),
                // At every port, since the live page is, and its controls need them.
                new AdminRoutes(api, new VirtualClockControl(time))));
        if (settings.surface().hasDevEndpoints()) {
            parts.add(new DevRoutes(api, sleep, replica));
        }
        if (settings.surface().hasDocs()) {
            parts.add(new DocsRoutes(settings, hasSglang(replica)));
        }
        parts.addAll(moreParts);
        return new HttpServer(api, edge, dialect(replica, isSglangAlone), parts)
                .bind(
                        http,
                        settings.http().host(),
                        number(replica),
                        settings.http().tls());
    }

    private List<ReplicaSpec> behind(OptionalInt replica) {
        return replica.isPresent() ? List.of(spec.replica(replica.getAsInt())) : spec.replicas();
    }

    /** Returns the role of all replicas behind a port; both if they have different ones. */
    private Role role(OptionalInt replica) {
        var roles = behind(replica).stream()
                .map(each -> each.traits().role())
                .distinct()
                .toList();
        return roles.size() == 1 ? roles.get(0) : Role.BOTH;
    }

    private SortedMap<Integer, ReplicaSpec> byIndex(OptionalInt replica) {
        var all = new TreeMap<Integer, ReplicaSpec>();
        var behind = behind(replica);
        for (int i = 0; i < behind.size(); i++) {
            all.put(replica.orElse(i), behind.get(i));
        }
        return all;
    }

    private boolean hasSglang(OptionalInt replica) {
        return behind(replica).stream().anyMatch(HttpPorts::isSglang);
    }

    private static boolean isSglang(ReplicaSpec replica) {
        return replica.engineTraits().has(Feature.SGLANG_SERVER);
    }

    private List<RoutePart> sglangRoutes(CallParser parser, OptionalInt replica, InfoRoutes info, boolean isAlone) {
        var parts = new ArrayList<RoutePart>(List.of(
                new EngineRoutes(api, sleep, replica),
                new ModelRoutes(api, info),
                new LoadRoutes(api, spec, reports, replica, isAlone)));
        if (isAlone) {
            parts.add(new PoolingRoutes(api, tokenizer, parser));
        }
        if (api.settings().model().pooling() == null) {
            parts.add(new GenerateRoutes(api, parser, replica));
            if (isAlone) {
                parts.add(new OpenAiRoutes(api, parser, replica));
                parts.add(new TokenizeRoutes(api, tokenizer, parser, replica));
                parts.add(new OllamaRoutes(api, parser));
            }
        }
        return parts;
    }

    /** A port with engines of both families speaks vLLM's dialect where both have the same paths. */
    private Dialect dialect(OptionalInt replica, boolean isSglangAlone) {
        String key = api.settings().http().apiKey();
        return isSglangAlone
                ? new SglangDialect(key, api.settings().sglang().adminApiKey())
                : new VllmDialect(key, hasSglang(replica) ? ServerEdge.OF_SGLANG : Set.of());
    }

    /** Returns the routes of what the model does; as with vLLM, there are no others. */
    private List<RoutePart> modelRoutes(CallParser parser, SpecBuilder specs) {
        var pooling = api.settings().model().pooling();
        return pooling == null
                ? List.of(
                        new GenerationRoutes(api, parser),
                        new BatchRoutes(api, parser),
                        new TokensRoutes(api, parser),
                        new MessagesRoutes(api, parser),
                        new ResponsesRoutes(api, tokenizer, specs))
                : List.of(new EmbeddingRoutes(api, parser, pooling), new ScoreRoutes(api, parser, pooling));
    }

    /** Returns the number of a port; one that was free for a replica once stays the replica's. */
    private synchronized int number(OptionalInt replica) {
        if (replica.isEmpty()) {
            return api.settings().http().port();
        }
        int index = replica.getAsInt();
        int first = api.settings().firstReplicaPort().orElseThrow();
        return numbers.getOrDefault(index, first == 0 ? 0 : first + index);
    }

    /**
     * Opens and closes ports as the states of the replicas want it; calls in flight at a port that is removed go on.
     */
    synchronized void follow(List<ReplicaState> states) {
        if (!api.settings().portsPerReplica()) {
            return;
        }
        for (int i = 0; i < states.size() && !isClosed; i++) {
            if (listens(i, states.get(i))) {
                wanted.add(i);
                openIfWanted(i, 0);
            } else {
                wanted.remove(i);
                close(ofReplicas.remove(i), states.get(i));
            }
        }
    }

    /** A replica that joins has no port before it was up once, however it shows that it is not. */
    private boolean listens(int replica, ReplicaState state) {
        boolean isDown = state == ReplicaState.DOWN || state == ReplicaState.STARTING;
        boolean keepsPort = api.settings().downReplicas() == DownReplicas.UNHEALTHY && numbers.containsKey(replica);
        return state.isUp() || (isDown && keepsPort);
    }

    private synchronized void openIfWanted(int replica, int numTries) {
        boolean isToOpen = wanted.contains(replica) && !ofReplicas.containsKey(replica) && !isClosed;
        if (isToOpen && opening.add(replica)) {
            bindOrFail(replica).whenComplete((binding, error) -> {
                if (error == null) {
                    keep(replica, binding);
                } else {
                    openAgain(replica, numTries + 1, error);
                }
            });
        }
    }

    /** Refusals of the library at once, such as of a port above 65535, are failures like any other. */
    private CompletionStage<ServerBinding> bindOrFail(int replica) {
        try {
            return bind(OptionalInt.of(replica), List.of());
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /** The port may still be in use for a moment, by the old listener or by a client. */
    private synchronized void openAgain(int replica, int numTries, Throwable error) {
        opening.remove(replica);
        if (numTries == 1 || numTries == MAX_TRIES) {
            LOG.warn("no port for replica {}: {}", replica, error.getMessage());
        }
        if (numTries < MAX_TRIES) {
            var system = api.system();
            system.scheduler().scheduleOnce(RETRY, () -> openIfWanted(replica, numTries), system.executionContext());
        }
    }

    /** Keeps a port that is open now, unless it is no longer wanted. */
    private synchronized void keep(int replica, ServerBinding binding) {
        opening.remove(replica);
        if (wanted.contains(replica) && !isClosed) {
            ofReplicas.put(replica, binding);
            numbers.put(replica, binding.localAddress().getPort());
        } else {
            binding.unbind();
        }
    }

    /** A process that has died takes its connections with it. */
    private static void close(@Nullable ServerBinding binding, ReplicaState state) {
        if (binding == null) {
            return;
        }
        if (state == ReplicaState.REMOVED) {
            binding.unbind();
        } else {
            binding.terminate(LAST_WORDS);
        }
    }

    /** Returns the port of the cluster, once it is open. */
    InetSocketAddress address() {
        if (ofCluster == null) {
            throw new IllegalStateException("the server does not listen yet");
        }
        return ofCluster.localAddress();
    }

    /** Returns the port at which a replica is reached: its own, or the cluster's. */
    int portOf(int replica) {
        var own = replicaAddresses().get(replica);
        int first = api.settings().firstReplicaPort().orElse(0);
        boolean comesLater = own == null && first > 0;
        return comesLater
                ? first + replica
                : Objects.requireNonNullElse(own, address()).getPort();
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
            // A port that has failed is closed.
            binding.terminate(Duration.ofSeconds(1))
                    .exceptionally(failure -> null)
                    .toCompletableFuture()
                    .completeOnTimeout(null, CLOSE_LIMIT.toSeconds(), TimeUnit.SECONDS)
                    .join();
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
