package understudy.api;

import io.soabase.recordbuilder.core.RecordBuilder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import understudy.api.call.AdmissionLimits;
import understudy.api.call.ApiSettings;
import understudy.api.call.ApiSettings.DownReplicas;
import understudy.api.call.ApiSettingsBuilder;
import understudy.api.call.LoraModules;
import understudy.api.call.Sessions;
import understudy.api.call.SideChannelPeers;
import understudy.api.call.SideChannelSettings;
import understudy.api.http.HttpSettings;
import understudy.api.http.HttpSettingsBuilder;
import understudy.api.http.OwnPageGuard;
import understudy.api.http.PodNames;
import understudy.api.http.TlsContexts;
import understudy.api.media.MultimodalSettings;
import understudy.api.model.CannedAnswers;
import understudy.api.model.ModelSettings;
import understudy.api.model.ModelSettings.AnswerMode;
import understudy.api.model.ModelSettingsBuilder;
import understudy.api.model.ModelTemplate;
import understudy.api.model.PoolingModelSettings;
import understudy.api.model.Tokenizer;
import understudy.api.model.TokenizerFile;
import understudy.engine.EngineSpec;
import understudy.engine.EngineTraits.Feature;
import understudy.engine.version.EngineProfile;
import understudy.settings.ScenarioException;
import understudy.settings.Section;
import understudy.workload.DrawSettings;

/** The section {@code server}, which is read by those who serve, and by those who check a scenario. */
public final class ServerSettings {
    private static final Set<String> LOOPBACK = Set.of("127.0.0.1", "localhost", "::1");
    private static final Pattern COMMA = Pattern.compile("\\s*,\\s*");
    private static final String TOKENIZER = "tokenizer";
    private static final String MAX_QUEUED_REQS = "max-num-queued-reqs";
    private static final String CERTFILE = "tls-certfile";
    private static final String KEYFILE = "tls-keyfile";
    private static final Pattern POD_NAME = Pattern.compile("[A-Za-z0-9.-]{0,253}");
    private static final Pattern ROOT_PATH = Pattern.compile("(/[A-Za-z0-9._~-]+)*");
    private static final int MAX_PORT = 65_535;
    private static final int MAX_LENGTH = 100_000_000;

    private enum MissingAdminToken {
        REFUSE,
        CLOSE_ADMIN
    }

    private final Section server;
    private final Served served;

    /**
     * Part of a scenario that a server tells, or depends on.
     *
     * @param seed of every random stream
     * @param numReplicas at the start
     * @param engine of the first group of replicas
     * @param version of the scenario's engine; empty if it has no versions
     * @param hardware the model and the GPUs, in words
     * @param numGpus of a replica
     * @param tensorParallelSize GPUs that share each layer
     * @param hiddenSize length of an embedding of the model
     * @param hashAlgorithm name of the block hash
     * @param reachesOutside whether replicas exchange KV with other processes
     * @param hasRooms whether they do so in rooms that calls name
     * @param hasPrefill whether some compute prompts for others
     * @param speed virtual seconds per wall second; infinite is as fast as possible
     */
    @RecordBuilder
    public record Served(
            long seed,
            int numReplicas,
            EngineSpec engine,
            Optional<EngineProfile> version,
            String hardware,
            int numGpus,
            int tensorParallelSize,
            int hiddenSize,
            String hashAlgorithm,
            boolean reachesOutside,
            boolean hasRooms,
            boolean hasPrefill,
            double speed) {}

    public ServerSettings(Section server, Served served) {
        this.server = server;
        this.served = served;
    }

    /** Reads and checks it. */
    public ApiSettings read() {
        var models = List.of(COMMA.split(server.text("served-model-name").strip(), -1));
        if (models.contains("")) {
            throw server.unusable("served-model-name", "must be names separated by commas");
        }
        String host = server.text("host");
        String adminToken = server.text("admin-token");
        boolean isOpen = adminToken.isEmpty() && !LOOPBACK.contains(host);
        if (isOpen && server.choice("missing-admin-token", MissingAdminToken.class) == MissingAdminToken.REFUSE) {
            throw server.unusable("host", "which others can reach, so server.admin-token must be set");
        }
        var http = HttpSettingsBuilder.builder()
                .host(host)
                .port(port())
                .rootPath(rootPath())
                .unixSocket(server.text("uds").isEmpty() ? null : Path.of(server.text("uds")))
                .tls(tls())
                .apiKey(server.text("api-key"))
                .adminToken(isOpen ? HttpSettings.NO_TOKEN_FITS : adminToken)
                .allowedHosts(allowedHosts())
                .limits(limits())
                .timeouts(timeouts())
                .build();
        // All settings are checked, also those that are used later.
        numWarmUpRequests();
        return ApiSettingsBuilder.builder()
                .http(http)
                .firstReplicaPort(firstReplicaPort(http.port()))
                .downReplicas(server.choice("down-replicas", DownReplicas.class))
                .pod(pod())
                .sideChannel(sideChannel(host))
                .loras(loras())
                .admission(admission())
                .hasLegacyMetrics(server.section("metrics").bool("legacy-names"))
                .sglang(sglang())
                .models(models)
                .vllmVersion(server.text("vllm-version"))
                .hardware(served.hardware)
                .model(model())
                .absent(absent())
                .surface(surface())
                .build();
    }

    private ApiSettings.Absent absent() {
        var endpoints = server.texts("absent-endpoints");
        for (String path : endpoints) {
            if (!ServerEdge.HANDLERS.contains(path) && !ServerEdge.OF_SGLANG.contains(path)) {
                throw server.unusable("absent-endpoints", "of which " + path + " is no endpoint here");
            }
        }
        return new ApiSettings.Absent(
                Set.copyOf(endpoints),
                served.version.map(EngineProfile::otherMetrics).orElse(Set.of()));
    }

    private ApiSettings.Sglang sglang() {
        var sglang = server.section("sglang");
        return new ApiSettings.Sglang(
                sglang.bool("enable-metrics"), sglang.bool("enable-cache-report"), sglang.text("admin-api-key"));
    }

    private ApiSettings.Surface surface() {
        String unlogged = server.text("access-log-except").strip();
        return new ApiSettings.Surface(
                server.bool("access-log"),
                unlogged.isEmpty() ? Set.of() : Set.copyOf(List.of(COMMA.split(unlogged, -1))),
                server.bool("docs"),
                server.bool("dev-mode"),
                served.numGpus);
    }

    private AdmissionLimits admission() {
        var limits = new AdmissionLimits(
                server.wholeNumber(MAX_QUEUED_REQS, 0, Integer.MAX_VALUE),
                server.wholeNumber("max-num-queued-tokens", 0, Long.MAX_VALUE));
        if (limits.areOn() && served.engine.traits().has(Feature.SGLANG_SERVER)) {
            throw server.unusable(
                    limits.maxNumQueuedReqs() > 0 ? MAX_QUEUED_REQS : "max-num-queued-tokens",
                    "which SGLang's server does not have; see engine.sglang.max-queued-requests");
        }
        return limits;
    }

    private String rootPath() {
        String path = server.text("root-path");
        if (!ROOT_PATH.matcher(path).matches()) {
            throw server.unusable("root-path", "must be empty or a path such as /llm, which does not end with a slash");
        }
        return path;
    }

    private @Nullable LoraModules loras() {
        var engine = served.engine;
        return engine.traits().has(Feature.ADAPTERS) ? new LoraModules(engine.loraModules()) : null;
    }

    /** Returns warnings about the scenario for the user of a server, a line each. */
    public List<String> warnings() {
        var lines = new ArrayList<String>();
        served.version.flatMap(EngineProfile::reservation).ifPresent(lines::add);
        if (served.engine.kvCache().findsBySession()) {
            lines.add("kv-cache.sessions is on: only calls with a session can hit the cache, which they name by the"
                    + " header "
                    + Sessions.HEADER + ", or by previous_response_id in /v1/responses");
        }
        if (served.reachesOutside && Double.isInfinite(served.speed)) {
            lines.add("clock.speed is max: what is kept for other processes is given up as soon as nothing else is to"
                    + " do");
        }
        return lines;
    }

    private Optional<SideChannelSettings> sideChannel(String host) {
        int port = server.wholeNumber("side-channel-port", 0, MAX_PORT);
        String named = server.text("side-channel-host");
        String told = named.equals("auto") ? SideChannelSettings.hostToTell(host) : named;
        var peers = SideChannelPeers.read(server.text("side-channel-peers"), told)
                .orElseThrow(() -> server.unusable(
                        "side-channel-peers",
                        "must be auto, *, or hosts, HOST:PORT and networks such as 10.0.0.0/8, separated by commas"));
        return served.reachesOutside
                ? Optional.of(new SideChannelSettings(told, port, peers, served.tensorParallelSize, rooms()))
                : Optional.empty();
    }

    private SideChannelSettings.Rooms rooms() {
        return served.hasRooms
                ? served.hasPrefill ? SideChannelSettings.Rooms.OFFERED : SideChannelSettings.Rooms.VISITED
                : SideChannelSettings.Rooms.NONE;
    }

    private List<String> allowedHosts() {
        String text = server.text("allowed-hosts").strip();
        var hosts = text.isEmpty() ? List.<String>of() : List.of(COMMA.split(text, -1));
        if (!hosts.stream().allMatch(OwnPageGuard::isHost)) {
            throw server.unusable("allowed-hosts", "must be host names without ports, separated by commas");
        }
        return hosts;
    }

    /** Returns the exception for a value that cannot be used, and why. */
    public ScenarioException unusable(String key, String why) {
        return server.unusable(key, why);
    }

    /** Returns how many requests a server tries out before it is ready. */
    public int numWarmUpRequests() {
        return server.wholeNumber("warm-up-requests", 0, 1_000_000);
    }

    private int port() {
        int port = server.wholeNumber("port", 0, MAX_PORT);
        boolean isTooHigh =
                server.bool("ports-per-replica") && hasReplicaPortsBehind() && port + served.numReplicas > MAX_PORT;
        if (port > 0 && isTooHigh) {
            throw server.unusable("port", "which leaves no ports up to " + MAX_PORT + " for the replicas");
        }
        return port;
    }

    private boolean hasReplicaPortsBehind() {
        return server.text("replica-port").equals("auto");
    }

    private OptionalInt firstReplicaPort(int port) {
        int behind = port == 0 ? 0 : port + 1;
        boolean isBehind = hasReplicaPortsBehind();
        int first = isBehind ? behind : server.wholeNumber("replica-port", 0, MAX_PORT);
        if (!server.bool("ports-per-replica")) {
            if (!isBehind) {
                throw server.unusable("replica-port", "which needs server.ports-per-replica = true");
            }
            return OptionalInt.empty();
        }
        int last = first + served.numReplicas - 1;
        if (first > 0 && last > MAX_PORT) {
            throw server.unusable("replica-port", "which leaves no ports up to " + MAX_PORT + " for the replicas");
        }
        if (first > 0 && port >= first && port <= last) {
            throw server.unusable("replica-port", "but server.port = " + port + " is one of the replicas' then");
        }
        return OptionalInt.of(first);
    }

    private PodNames pod() {
        var environment = PodNames.ofEnvironment();
        return new PodNames(podName("pod-name", environment.pod()), podName("pod-namespace", environment.namespace()));
    }

    /** Names of Kubernetes; anything else could not be sent in a header. */
    private String podName(String key, String ofEnvironment) {
        String name = server.text(key).equals("auto") ? ofEnvironment : server.text(key);
        if (!POD_NAME.matcher(name).matches()) {
            throw server.unusable(key, "must be auto, empty, or letters, digits, hyphens and dots");
        }
        return name;
    }

    private HttpSettings.Limits limits() {
        return new HttpSettings.Limits(
                server.wholeNumber("max-body-size", 1024, 1 << 30),
                maxBodyMemory(),
                server.wholeNumber("max-in-flight", 0, Integer.MAX_VALUE),
                server.wholeNumber("max-connections", 1, 1_000_000),
                server.wholeNumber("stream-buffer", 1, 1_000_000));
    }

    private long maxBodyMemory() {
        return server.text("max-body-memory").equals("auto")
                ? Runtime.getRuntime().maxMemory() / 4
                : server.wholeNumber("max-body-memory", 1L << 16, 1L << 50);
    }

    private HttpSettings.Timeouts timeouts() {
        return new HttpSettings.Timeouts(
                duration("request-timeout"),
                duration("body-timeout"),
                duration("idle-timeout"),
                duration("drain-delay"),
                duration("drain-timeout"),
                duration("retry-after"));
    }

    private Duration duration(String key) {
        return Duration.ofNanos(Math.round(server.nanos(key)));
    }

    private ModelSettings model() {
        var mode = server.choice("answers", AnswerMode.class);
        var tokenizer = tokenizer();
        return ModelSettingsBuilder.builder()
                .seed(served.seed)
                .maxModelLen(served.engine.kvCache().maxModelLen())
                .hasPriorities(served.engine.traits().has(Feature.PRIORITIES))
                .tokenizer(tokenizer)
                .chatTemplate(chatTemplate(tokenizer))
                .answers(mode)
                .lengths(DrawSettings.wholeNumbers(server.section("answer-length"), MAX_LENGTH))
                .canned(mode == AnswerMode.REPLAY ? canned() : CannedAnswers.NONE)
                .hashAlgorithm(served.hashAlgorithm)
                .media(MultimodalSettings.read(server))
                .pooling(PoolingModelSettings.read(server, served.hiddenSize))
                .build();
    }

    private Tokenizer.Source tokenizer() {
        String text = server.text(TOKENIZER);
        for (var vocabulary : Tokenizer.Vocabulary.values()) {
            if (Section.nameOf(vocabulary).equals(text)) {
                return vocabulary;
            }
        }
        if (!Files.exists(Path.of(text))) {
            throw server.unusable(
                    TOKENIZER,
                    "must be cl100k-base, o200k-base, or a tokenizer.json or its folder, which must be there");
        }
        try {
            return new TokenizerFile(Path.of(text));
        } catch (IllegalArgumentException e) {
            throw server.unusable(TOKENIZER, String.valueOf(e.getMessage()));
        }
    }

    private @Nullable ModelTemplate chatTemplate(Tokenizer.Source tokenizer) {
        try {
            return ModelTemplate.read(server.text("chat-template"), tokenizer);
        } catch (IllegalArgumentException e) {
            throw server.unusable("chat-template", String.valueOf(e.getMessage()));
        }
    }

    private CannedAnswers canned() {
        var file = Path.of(server.text("answers-file"));
        if (!Files.isRegularFile(file)) {
            throw server.unusable("answers-file", "which is not a file");
        }
        try {
            return CannedAnswers.read(file);
        } catch (IOException e) {
            throw server.unusable("answers-file", "which cannot be read: " + e.getMessage());
        } catch (IllegalArgumentException e) {
            throw new ScenarioException(String.valueOf(e.getMessage()));
        }
    }

    private HttpSettings.Tls pem(Path certificates, Path key) {
        var files = new HttpSettings.PemKey(certificates, key);
        try {
            TlsContexts.of(files);
            return files;
        } catch (UncheckedIOException e) {
            throw server.unusable(CERTFILE, "or server." + KEYFILE + " cannot be read: " + e.getMessage());
        } catch (IllegalArgumentException e) {
            throw server.unusable(CERTFILE, "but " + e.getMessage());
        }
    }

    private HttpSettings.@Nullable Tls tls() {
        String keyStore = server.text("tls-keystore");
        String certificates = server.text(CERTFILE);
        String key = server.text(KEYFILE);
        if (certificates.isEmpty() != key.isEmpty()) {
            throw certificates.isEmpty()
                    ? server.unusable(KEYFILE, "which needs server." + CERTFILE + ", too")
                    : server.unusable(CERTFILE, "which needs server." + KEYFILE + ", too");
        }
        if (keyStore.isEmpty()) {
            return certificates.isEmpty() ? null : pem(Path.of(certificates), Path.of(key));
        }
        if (!certificates.isEmpty()) {
            throw server.unusable(CERTFILE, "but there is server.tls-keystore already");
        }
        if (!Files.isRegularFile(Path.of(keyStore))) {
            throw server.unusable("tls-keystore", "which is not a file");
        }
        return new HttpSettings.StoredKey(Path.of(keyStore), server.text("tls-password"));
    }
}
