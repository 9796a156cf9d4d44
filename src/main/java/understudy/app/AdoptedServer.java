package understudy.app;

import java.io.ByteArrayOutputStream;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodySubscribers;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import understudy.adopt.Adoption;
import understudy.adopt.EngineName;
import understudy.adopt.Findings;
import understudy.adopt.Sources;
import understudy.settings.ScenarioException;

/** A live server, of which each answer about itself is a source; every question has its bounds in time and bytes. */
final class AdoptedServer {
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final int MAX_BYTES = 64 << 20;
    private static final int OK = 200;
    private static final int UNAUTHORIZED = 401;
    private static final int FORBIDDEN = 403;

    private static final HttpClient CLIENT = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(PATIENCE)
            .followRedirects(HttpClient.Redirect.NEVER)
            .build();

    /** What servers of both engines have, and tells them apart. */
    private static final String MODELS = "/v1/models";

    /** What a server may have. vLLM answers about its settings in its development mode only. */
    private static final Map<EngineName, List<String>> MORE = Map.of(
            EngineName.VLLM, List.of("/version", "/metrics", "/server_info?config_format=json"),
            EngineName.SGLANG, List.of("/metrics", "/get_server_info", "/get_model_info"));

    private final String base;
    private final Map<String, String> headers;
    private final Duration patience;
    private final @Nullable String key;

    /**
     * Names a server.
     *
     * @param address of it, without a path
     * @param key that is sent as a bearer token, or null
     */
    AdoptedServer(String address, Map<String, String> headers, @Nullable String key) {
        this(address, headers, key, PATIENCE);
    }

    AdoptedServer(String address, Map<String, String> headers, @Nullable String key, Duration patience) {
        this.patience = patience;
        base = address.replaceFirst("/+$", "").replaceFirst("/(v1|metrics)$", "");
        this.headers = headers;
        this.key = key;
    }

    /** An answer that came. */
    private record Answer(int status, String body) {}

    /**
     * Asks the server about itself.
     *
     * @throws ScenarioException if it cannot be reached, or is none of vLLM or SGLang
     */
    Findings findings() throws InterruptedException {
        var models = get(base + MODELS);
        if (models.status != OK) {
            throw refused(base + MODELS, models.status);
        }
        var findings = Sources.read(base + MODELS, models.body);
        for (String path : MORE.getOrDefault(Adoption.engine(findings), List.of())) {
            var answer = get(base + path);
            boolean isSilent = answer.body.isBlank()
                    || Sources.isHtml(answer.body)
                    || Sources.isPageWithoutEngine(base + path, answer.body);
            if (answer.status == OK && !isSilent) {
                findings = findings.with(Sources.read(base + path, answer.body));
            }
        }
        return findings.named(base);
    }

    /**
     * Returns the body behind one path.
     *
     * @throws ScenarioException if anything but success is answered
     */
    String body(String path) throws InterruptedException {
        var answer = get(base + path);
        if (answer.status != OK && !isExplained(answer)) {
            throw refused(base + path.replaceFirst("\\?.*", ""), answer.status);
        }
        return answer.body;
    }

    /** Prometheus tells in JSON what is wrong with a query. */
    private static boolean isExplained(Answer answer) {
        return answer.body.startsWith("{\"status\":\"error\"");
    }

    private static ScenarioException refused(String address, int status) {
        boolean asksForKey = status == UNAUTHORIZED || status == FORBIDDEN;
        return new ScenarioException(address + ": answers HTTP " + status
                + (asksForKey
                        ? "; give the key in OPENAI_API_KEY, or with --header"
                        : "; is this the address of the server itself?"));
    }

    private Answer get(String address) throws InterruptedException {
        var body = new ByteArrayOutputStream();
        var answer = CLIENT.sendAsync(
                request(address), info -> BodySubscribers.ofByteArrayConsumer(part -> addUpToLimit(part, body)));
        try {
            int status = answer.get(patience.toMillis(), TimeUnit.MILLISECONDS).statusCode();
            if (body.size() > MAX_BYTES) {
                throw new ScenarioException(address + ": answers more than " + (MAX_BYTES >> 20) + " MiB");
            }
            return new Answer(status, body.toString(StandardCharsets.UTF_8));
        } catch (TimeoutException e) {
            answer.cancel(true);
            throw new ScenarioException(address + ": no whole answer within " + patience.toMillis() / 1e3 + " s");
        } catch (ExecutionException e) {
            throw new ScenarioException(address + ": cannot be read: " + words(e.getCause()));
        }
    }

    /** One part more than the limit shows that there is too much; the rest is let go. */
    private static void addUpToLimit(Optional<byte[]> part, ByteArrayOutputStream body) {
        if (body.size() <= MAX_BYTES) {
            part.ifPresent(body::writeBytes);
        }
    }

    private String words(@Nullable Throwable failure) {
        if (failure instanceof ConnectException) {
            return failure.getMessage() == null ? "connection refused" : failure.getMessage();
        }
        return failure instanceof HttpTimeoutException
                ? "no whole answer within " + patience.toMillis() / 1e3 + " s"
                : String.valueOf(failure);
    }

    private HttpRequest request(String address) {
        try {
            var request = HttpRequest.newBuilder(URI.create(address))
                    .timeout(patience)
                    .GET();
            if (key != null && !key.isBlank()) {
                request.setHeader("Authorization", "Bearer " + key);
            }
            headers.forEach(request::setHeader);
            return request.build();
        } catch (IllegalArgumentException e) {
            throw new ScenarioException(address + ": no address: " + e.getMessage());
        }
    }
}
