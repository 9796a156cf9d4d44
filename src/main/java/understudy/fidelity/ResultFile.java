package understudy.fidelity;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import it.unimi.dsi.fastutil.doubles.DoubleList;
import it.unimi.dsi.fastutil.longs.Long2ObjectMap;
import it.unimi.dsi.fastutil.longs.Long2ObjectRBTreeMap;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import understudy.json.Jackson;
import understudy.report.Total;
import understudy.settings.ScenarioException;

/**
 * Result of a benchmark: a file of {@code vllm bench serve --save-result}, of {@code understudy bench}, or a report of
 * {@code understudy run --json}. Figures that all three have bear the same names.
 *
 * @param kind whose file it is, for people
 * @param metrics figures by their key, in the order of the file
 * @param requests completed requests by number; empty unless the file was saved with details
 */
record ResultFile(String kind, Map<String, Double> metrics, Long2ObjectMap<RequestTimes> requests) {
    private static final Pattern LATENCY = Pattern.compile("(mean|median|std|max|p[0-9.]+)_[a-z0-9_]+_ms");
    private static final Set<String> TOTALS = Stream.of(
                    Total.DURATION,
                    Total.COMPLETED,
                    Total.FAILED,
                    Total.TOTAL_INPUT_TOKENS,
                    Total.TOTAL_OUTPUT_TOKENS,
                    Total.REQUEST_THROUGHPUT,
                    Total.REQUEST_GOODPUT,
                    Total.OUTPUT_THROUGHPUT,
                    Total.TOTAL_TOKEN_THROUGHPUT,
                    Total.MAX_OUTPUT_TOKENS_PER_S,
                    Total.MAX_CONCURRENT_REQUESTS)
            .map(Total::key)
            .collect(Collectors.toUnmodifiableSet());
    private static final double MILLIS_PER_SECOND = 1e3;
    private static final double NANOS_PER_SECOND = 1e9;

    /** Some chunks have two tokens when a client is slow. */
    private static final double MAX_TOKENS_PER_CHUNK = 1.05;

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
            return Jackson.readerOfWholeTexts().readTree(Files.readAllBytes(Path.of(file)));
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
        completed(json)
                .forEach(i -> requests.put(
                        json.path("request_ids").path(i).asLong(i),
                        new RequestTimes(
                                json.path("input_lens").path(i).asInt(),
                                json.path("output_lens").path(i).asInt(),
                                json.path("ttfts").path(i).asDouble() * MILLIS_PER_SECOND,
                                e2elSeconds(json, i) * MILLIS_PER_SECOND)));
        return requests;
    }

    private static IntStream completed(JsonNode json) {
        return IntStream.range(0, json.path("ttfts").size())
                .filter(i -> json.path("output_lens").path(i).asInt() > 0
                        && json.path("errors").path(i).asText("").isEmpty());
    }

    /**
     * Reads when the tokens of each completed answer came.
     *
     * @throws ScenarioException if the file does not say it
     */
    static List<AnswerTimes> answers(String file) {
        var json = parse(file);
        if (json.path("itls").isEmpty() || json.path("start_times").isEmpty()) {
            throw new ScenarioException(file + ": has no times of tokens; save it with --save-detailed");
        }
        int[] completed = completed(json).toArray();
        var answers = Arrays.stream(completed).mapToObj(i -> answer(json, i)).toList();
        long numChunks =
                answers.stream().mapToLong(each -> each.tokenNanos().size()).sum();
        long numTokens = Arrays.stream(completed)
                .mapToLong(i -> json.path("output_lens").path(i).asLong())
                .sum();
        if (numTokens > MAX_TOKENS_PER_CHUNK * numChunks) {
            throw new ScenarioException(file + ": has " + numTokens + " tokens in " + numChunks
                    + " chunks; steps show only if each chunk has one token");
        }
        return answers;
    }

    private static AnswerTimes answer(JsonNode json, int index) {
        double seconds = json.path("start_times").path(index).asDouble();
        double sentNanos = seconds * NANOS_PER_SECOND;
        var gaps = json.path("itls").path(index);
        var nanos = new double[gaps.size() + 1];
        seconds += json.path("ttfts").path(index).asDouble();
        for (int i = 0; i < nanos.length; i++) {
            nanos[i] = seconds * NANOS_PER_SECOND;
            seconds += gaps.path(i).asDouble();
        }
        return new AnswerTimes(sentNanos, json.path("input_lens").path(index).asInt(), DoubleList.of(nanos));
    }

    private static double e2elSeconds(JsonNode json, int index) {
        double seconds = json.path("ttfts").get(index).asDouble();
        for (var gap : json.path("itls").path(index)) {
            seconds += gap.asDouble();
        }
        return seconds;
    }
}
