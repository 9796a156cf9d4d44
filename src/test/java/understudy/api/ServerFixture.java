package understudy.api;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;
import understudy.cluster.ClusterListeners;
import understudy.cluster.ClusterSpec;
import understudy.cluster.ReplicaSpec;
import understudy.engine.PreemptionVictim;
import understudy.engine.RequestLimits;
import understudy.engine.SchedulerConfig;
import understudy.engine.SchedulingPolicy;
import understudy.kvcache.EvictionPolicy;
import understudy.kvcache.FreeOrder;
import understudy.kvcache.KvCacheConfig;
import understudy.kvcache.PrefixOptions;
import understudy.kvcache.Xxh3BlockHasher;
import understudy.latency.LatencyModel;
import understudy.latency.LinearLatency;
import understudy.routing.RoundRobin;
import understudy.workload.FaultPlan;
import understudy.workload.WholeNumbers;

/** Starts servers on a free port of 127.0.0.1, and talks to them as clients do. */
final class ServerFixture implements AutoCloseable {
    static final int MAX_MODEL_LEN = 2048;
    private static final ObjectMapper JSON = new ObjectMapper();

    int numReplicas = 1;
    int numBlocks = 1000;
    double speed = 10;
    LatencyModel latency = new LinearLatency(5e6, 0, 0, 0);
    boolean portsPerReplica;
    String apiKey = "";
    int maxBodyBytes = 1 << 20;
    int maxInFlight;
    int streamBuffer = 4096;
    Duration requestTimeout = Duration.ZERO;
    Duration drainTimeout = Duration.ofSeconds(30);
    AnswerMode answers = AnswerMode.RANDOM;
    CannedAnswers canned = CannedAnswers.NONE;
    ApiSettings.Tls tls;

    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private EmulationServer server;

    ServerFixture start() {
        server = EmulationServer.start(clusterSpec(), speed, settings());
        return this;
    }

    EmulationServer server() {
        return server;
    }

    ClusterSpec clusterSpec() {
        var hasher = new Xxh3BlockHasher(16);
        var scheduler = new SchedulerConfig(
                64, 2048, MAX_MODEL_LEN, 0, true, true, SchedulingPolicy.FCFS, PreemptionVictim.AUTO, true, 16, true);
        // Nobody takes KV events here, so none are recorded: they would pile up.
        var kvCache = new KvCacheConfig(
                hasher,
                numBlocks,
                true,
                MAX_MODEL_LEN,
                0,
                EvictionPolicy.LRU,
                FreeOrder.UNHASHED_FIRST,
                false,
                false,
                PrefixOptions.VLLM);
        var limits = new RequestLimits(MAX_MODEL_LEN, kvCache.maxTokens());
        var replica = new ReplicaSpec(scheduler, limits, kvCache, latency, 1_000_000, false, 0);
        return new ClusterSpec(
                Collections.nCopies(numReplicas, replica),
                new RoundRobin(),
                Duration.ZERO,
                null,
                FaultPlan.NONE,
                ClusterListeners.NONE,
                false);
    }

    ApiSettings settings() {
        return new ApiSettings(
                "127.0.0.1",
                0,
                portsPerReplica,
                List.of("m"),
                apiKey,
                "",
                new ApiSettings.RequestLimits(maxBodyBytes, maxInFlight, 20_000, streamBuffer),
                new ApiSettings.Timeouts(
                        requestTimeout,
                        Duration.ofSeconds(5),
                        Duration.ofMinutes(1),
                        Duration.ZERO,
                        drainTimeout,
                        Duration.ofSeconds(2)),
                new ApiSettings.Model(
                        1,
                        MAX_MODEL_LEN,
                        false,
                        Tokenizer.Vocabulary.CL100K_BASE,
                        answers,
                        WholeNumbers.uniform(5, 40),
                        canned,
                        "xxh3"),
                tls);
    }

    String url() {
        return "http://127.0.0.1:" + server.address().getPort();
    }

    /** An answer of the server. */
    record Reply(int status, java.net.http.HttpHeaders headers, String text) {
        JsonNode json() {
            try {
                return JSON.readTree(text);
            } catch (IOException e) {
                throw new AssertionError("not JSON: " + text, e);
            }
        }

        /** The events of a stream, without the last one, which says that it is the last one. */
        List<JsonNode> events() {
            var lines = text.lines().filter(line -> !line.isEmpty()).toList();
            var events = new ArrayList<JsonNode>();
            for (String line : lines) {
                if (line.startsWith("data: {")) {
                    events.add(new Reply(status, headers, line.substring("data: ".length())).json());
                }
            }
            return events;
        }

        boolean isDone() {
            return text.endsWith("data: [DONE]\n\n");
        }
    }

    Reply post(String path, String body, String... headers) {
        return send(request(path, headers).POST(HttpRequest.BodyPublishers.ofString(body)));
    }

    Reply post(String path, byte[] body, String... headers) {
        return send(request(path, headers).POST(HttpRequest.BodyPublishers.ofByteArray(body)));
    }

    Reply get(String path, String... headers) {
        return send(request(path, headers).GET());
    }

    Reply send(HttpRequest.Builder request) {
        try {
            var response = client.send(request.build(), HttpResponse.BodyHandlers.ofString());
            return new Reply(response.statusCode(), response.headers(), response.body());
        } catch (IOException e) {
            throw new AssertionError(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        }
    }

    HttpRequest.Builder request(String path, String... headers) {
        var builder = HttpRequest.newBuilder(URI.create(url() + path)).timeout(Duration.ofSeconds(60));
        if (Stream.of(headers).noneMatch("Content-Type"::equalsIgnoreCase)) {
            builder.header("Content-Type", "application/json");
        }
        return headers.length == 0 ? builder : builder.headers(headers);
    }

    HttpClient client() {
        return client;
    }

    /** The value of a series, such as {@code vllm:num_requests_running}, summed over all its labels that contain a text. */
    double metric(String name, String label) {
        return get("/metrics")
                .text()
                .lines()
                .filter(line -> line.startsWith(name + "{") || line.startsWith(name + " "))
                .filter(line -> line.contains(label))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .sum();
    }

    /** Waits until a series has a value; the server's metrics follow its answers at a small distance. */
    void awaitMetric(String name, String label, Predicate<Double> isGood) {
        for (int i = 0; i < 500; i++) {
            if (isGood.test(metric(name, label))) {
                return;
            }
        }
        throw new AssertionError(name + " is " + metric(name, label));
    }

    /** Waits until some replica takes requests. */
    void awaitReady() {
        for (int i = 0; i < 500; i++) {
            if (get("/health/ready").status() == 200) {
                return;
            }
        }
        throw new AssertionError("no replica has become ready");
    }

    @Override
    public void close() {
        if (server != null) {
            server.close();
        }
    }
}
