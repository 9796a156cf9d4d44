package understudy.fidelity;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import it.unimi.dsi.fastutil.longs.Long2ObjectMap;
import it.unimi.dsi.fastutil.longs.Long2ObjectRBTreeMap;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import understudy.scenario.ScenarioException;

/**
 * Result of a benchmark: a file of {@code vllm bench serve --save-result}, of {@code understudy bench}, or a report of
 * {@code understudy run --json}. All three name what they have in common alike.
 *
 * @param kind whose file it is, for people
 * @param metrics figures by their key, in the order of the file
 * @param requests completed requests by number; empty unless the file was saved with details
 */
record ResultFile(String kind, Map<String, Double> metrics, Long2ObjectMap<RequestTimes> requests) {
    private static final ObjectMapper JSON = new ObjectMapper().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);
    private static final Pattern LATENCY = Pattern.compile("(mean|median|std|max|p[0-9.]+)_[a-z0-9_]+_ms");
    private static final Set<String> TOTALS = Set.of(
            "duration",
            "completed",
            "failed",
            "total_input_tokens",
            "total_output_tokens",
            "request_throughput",
            "request_goodput",
            "output_throughput",
            "total_token_throughput",
            "max_output_tokens_per_s",
            "max_concurrent_requests");
    private static final double MILLIS_PER_SECOND = 1e3;

    /**
     * Times of one request.
     *
     * @param inputTokens prompt tokens
     * @param outputTokens answer tokens
     */
    record RequestTimes(int inputTokens, int outputTokens, double ttftMillis, double e2elMillis) {

        /** Returns the mean time per token after the first, or NaN if there is none. */
        double tpotMillis() {
            return outputTokens > 1 ? (e2elMillis - ttftMillis) / (outputTokens - 1) : Double.NaN;
        }
    }

    /**
     * Reads a file.
     *
     * @throws ScenarioException if it is none of the three
     */
    static ResultFile read(String file) {
        var json = parse(file);
        var metrics = metrics(json);
        if (!metrics.keySet().containsAll(Set.of("duration", "completed", "request_throughput"))) {
            throw new ScenarioException(file
                    + ": neither a result of vllm bench serve or understudy bench, nor a report of understudy run");
        }
        return new ResultFile(kind(json), metrics, requests(json));
    }

    private static JsonNode parse(String file) {
        try {
            return JSON.readTree(Files.readAllBytes(Path.of(file)));
        } catch (NoSuchFileException | InvalidPathException e) {
            throw new ScenarioException(file + ": no such file");
        } catch (JsonProcessingException e) {
            throw new ScenarioException(file + ": not JSON, or more than one result: "
                    + e.getOriginalMessage().lines().findFirst().orElse(""));
        } catch (IOException e) {
            throw new ScenarioException(file + ": cannot be read: " + e.getMessage());
        }
    }

    private static String kind(JsonNode json) {
        if (json.has("step_digest")) {
            return "understudy run";
        }
        return json.has("client_late") ? "understudy bench" : "vllm bench serve";
    }

    private static Map<String, Double> metrics(JsonNode json) {
        var metrics = new LinkedHashMap<String, Double>();
        for (var field : json.properties()) {
            boolean isMetric = TOTALS.contains(field.getKey())
                    || LATENCY.matcher(field.getKey()).matches();
            if (isMetric && field.getValue().isNumber()) {
                metrics.put(field.getKey(), field.getValue().doubleValue());
            }
        }
        return metrics;
    }

    /** A run lists completed requests with their numbers; a benchmark lists all of them in order. */
    private static Long2ObjectMap<RequestTimes> requests(JsonNode json) {
        var requests = new Long2ObjectRBTreeMap<RequestTimes>();
        var ttfts = json.path("ttfts");
        for (int i = 0; i < ttfts.size(); i++) {
            int outputTokens = json.path("output_lens").path(i).asInt();
            boolean isCompleted =
                    outputTokens > 0 && json.path("errors").path(i).asText("").isEmpty();
            if (isCompleted) {
                requests.put(
                        json.path("request_ids").path(i).asLong(i),
                        new RequestTimes(
                                json.path("input_lens").path(i).asInt(),
                                outputTokens,
                                ttfts.get(i).asDouble() * MILLIS_PER_SECOND,
                                e2elSeconds(json, i) * MILLIS_PER_SECOND));
            }
        }
        return requests;
    }

    private static double e2elSeconds(JsonNode json, int index) {
        double seconds = json.path("ttfts").get(index).asDouble();
        for (var gap : json.path("itls").path(index)) {
            seconds += gap.asDouble();
        }
        return seconds;
    }
}
