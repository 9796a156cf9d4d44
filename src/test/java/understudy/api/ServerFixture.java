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
import java.util.List;
import java.util.Locale;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import understudy.Waiting;
import understudy.api.call.ApiContext;
import understudy.api.call.RequestRecorder;
import understudy.api.http.RoutePart;
import understudy.api.model.ModelSettings.AnswerMode;
import understudy.scenario.EmbeddedScenario;
import understudy.settings.Section;
import understudy.testkit.EmulatedCluster;

/** Starts servers on a free port of 127.0.0.1, and talks to them as clients do. */
public final class ServerFixture implements AutoCloseable {
    public static final int MAX_MODEL_LEN = 2048;
    private static final ObjectMapper JSON = new ObjectMapper();

    public int numReplicas = 1;
    public int numBlocks = 1000;
    public double speed = 10;
    Duration step = Duration.ofMillis(5);
    public boolean portsPerReplica;
    public String apiKey = "";
    public String adminToken = "";
    public int maxBodyBytes = 1 << 20;
    int maxInFlight;
    int streamBuffer = 4096;
    Duration requestTimeout = Duration.ZERO;
    public Duration drainTimeout = Duration.ofSeconds(30);
    AnswerMode answers = AnswerMode.RANDOM;
    String answersFile = "";
    String tlsKeyStore = "";
    String tlsPassword = "";
    public String moreSettings = "";

    /** Is told of all requests, and stays the test's; only of a server that is started alone. */
    public @Nullable RequestRecorder recorder;

    /** More routes of a server that is started alone. */
    public Function<ApiContext, List<RoutePart>> parts = api -> List.of();

    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private EmulatedCluster cluster;
    private EmulationServer server;

    public ServerFixture start() {
        cluster = EmulatedCluster.serve(settings().render());
        server = cluster.server();
        return this;
    }

    /** Starts what {@code serve} starts, without what tests need besides. */
    public ServerFixture startAlone() {
        var scenario = EmbeddedScenario.of(settings().render());
        server = EmulationServer.start(
                scenario.clusterSpecWithoutRecords(),
                scenario.speed(),
                scenario.server(),
                scenario.kvEvents(),
                recorder,
                parts);
        return this;
    }

    public EmulationServer server() {
        return server;
    }

    EmulatedCluster cluster() {
        return cluster;
    }

    private Section settings() {
        var settings = new TreeMap<String, Object>();
        settings.put("cluster.replicas", numReplicas);
        settings.put("clock.speed", Double.isInfinite(speed) ? "max" : speed);
        settings.put("engine.max-num-seqs", 64);
        settings.put("engine.max-num-batched-tokens", MAX_MODEL_LEN);
        settings.put("engine.max-model-len", MAX_MODEL_LEN);
        settings.put("kv-cache.num-gpu-blocks", numBlocks);
        settings.put("latency.api-delay", "1ms");
        settings.put("latency.model", "linear");
        settings.put("latency.linear.per-step", step.toNanos() + "ns");
        settings.put("latency.linear.per-token", "0ns");
        settings.put("latency.linear.per-decode-seq", "0ns");
        settings.put("latency.linear.per-kv-token", "0ns");
        settings.put("server.ports-per-replica", portsPerReplica);
        settings.put("server.served-model-name", "m");
        settings.put("server.api-key", apiKey);
        settings.put("server.admin-token", adminToken);
        settings.put("server.tls-keystore", tlsKeyStore);
        settings.put("server.tls-password", tlsPassword);
        settings.put("server.max-body-size", maxBodyBytes);
        settings.put("server.max-in-flight", maxInFlight);
        settings.put("server.max-connections", 20_000);
        settings.put("server.stream-buffer", streamBuffer);
        settings.put("server.request-timeout", requestTimeout.toMillis() + "ms");
        settings.put("server.body-timeout", "5s");
        settings.put("server.idle-timeout", "1m");
        settings.put("server.drain-timeout", drainTimeout.toMillis() + "ms");
        settings.put("server.retry-after", "2s");
        settings.put("server.answers", answers.name().toLowerCase(Locale.ROOT));
        settings.put("server.answers-file", answersFile);
        settings.put("server.answer-length.kind", "uniform");
        settings.put("server.answer-length.min", 5);
        settings.put("server.answer-length.max", 40);
        return Section.of(moreSettings).withFallback(Section.of(settings));
    }

    public String url() {
        return (tlsKeyStore.isEmpty() ? "http" : "https") + "://127.0.0.1:"
                + server.address().getPort();
    }

    /** An answer of the server. */
    public record Reply(int status, java.net.http.HttpHeaders headers, String text) {
        public JsonNode json() {
            try {
                return JSON.readTree(text);
            } catch (IOException e) {
                throw new AssertionError("not JSON: " + text, e);
            }
        }

        /** The events of a stream, without the last one, which says that it is the last one. */
        public List<JsonNode> events() {
            var lines = text.lines().filter(line -> !line.isEmpty()).toList();
            var events = new ArrayList<JsonNode>();
            for (String line : lines) {
                if (line.startsWith("data: {")) {
                    events.add(new Reply(status, headers, line.substring("data: ".length())).json());
                }
            }
            return events;
        }

        public boolean isDone() {
            return text.endsWith("data: [DONE]\n\n");
        }
    }

    public Reply post(String path, String body, String... headers) {
        return send(request(path, headers).POST(HttpRequest.BodyPublishers.ofString(body)));
    }

    public Reply post(String path, byte[] body, String... headers) {
        return send(request(path, headers).POST(HttpRequest.BodyPublishers.ofByteArray(body)));
    }

    public Reply get(String path, String... headers) {
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

    public HttpRequest.Builder request(String path, String... headers) {
        var builder = HttpRequest.newBuilder(URI.create(url() + path)).timeout(Duration.ofSeconds(60));
        if (Stream.of(headers).noneMatch("Content-Type"::equalsIgnoreCase)) {
            builder.header("Content-Type", "application/json");
        }
        return headers.length == 0 ? builder : builder.headers(headers);
    }

    public HttpClient client() {
        return client;
    }

    /** The value of a series, such as {@code vllm:num_requests_running}, summed over all its labels that contain a text. */
    public double metric(String name, String label) {
        return get("/metrics")
                .text()
                .lines()
                .filter(line -> line.startsWith(name + "{") || line.startsWith(name + " "))
                .filter(line -> line.contains(label))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .sum();
    }

    /** Waits until a series has a value; the server's metrics follow its answers at a small distance. */
    public void awaitMetric(String name, String label, Predicate<Double> isGood) {
        Waiting.until(() -> isGood.test(metric(name, label)));
    }

    /** Waits until some replica takes requests. */
    void awaitReady() {
        Waiting.until(() -> get("/health/ready").status() == 200);
    }

    @Override
    public void close() {
        if (cluster != null) {
            cluster.close();
        } else if (server != null) {
            server.close();
        }
    }
}
