package understudy.replay;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import it.unimi.dsi.fastutil.ints.IntList;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import understudy.TestData;

/** Results of an independent replay, in another language and written for clarity, must be met to the token. */
final class ReplayGoldenTest {
    private static final String CONVERSATION = "traces/conversation_trace.jsonl";
    private static final String MICRO = "replay-micro.json.gz";
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Map<String, String> OTHER_NAMES =
            Map.of("LRU_DEPTH", "lru-longest-prefix", "OPT", "belady", "OPT_BYPASS", "belady-bypass");

    /** The traces of the golden file: where they are, and how many lines of them count. */
    private static final Map<String, Integer> LINES =
            Map.of("mooncake_conversation", Integer.MAX_VALUE, "mooncake_conversation_first2000", 2_000);

    @Test
    void conversationTrace_givesWhatTwoPublishedRunsGive() {
        var trace = Traces.mooncake(TestData.require(CONVERSATION), 2_000, 2_000);

        var result = replay(ReplaySettings.of(ReplayPolicy.S3FIFO, 4_096, 512), trace);

        assertThat(result.totalPromptTokens()).isEqualTo(27_441_774);
        assertThat(result.totalHitTokens()).isEqualTo(2_394_659);
        assertThat(result.finalCacheBlocks()).isEqualTo(2_535);
        assertThat(result.overallHitRate()).isEqualTo(0.08726327241088713);
    }

    static List<String> goldenTraces() throws IOException {
        var names = new ArrayList<String>();
        recorded("replay.json.gz").get("traces").fieldNames().forEachRemaining(names::add);
        names.retainAll(LINES.keySet());
        return names;
    }

    @ParameterizedTest
    @MethodSource("goldenTraces")
    void goldenRuns_areMetExactly(String trace) throws Exception {
        var conversation = TestData.require(CONVERSATION);
        var golden = recorded("replay.json.gz").get("traces").get(trace);
        var requests = Objects.requireNonNull(LINES.get(trace));
        assertThat(sha256(firstLines(conversation, requests)))
                .isEqualTo(golden.get("sha256").textValue());

        // In chunks, so that the tables have to grow on the way.
        var chunks = Traces.mooncake(conversation, requests, 1_000);
        var nextUse = NextUse.of(chunks);

        for (JsonNode run : (Iterable<JsonNode>) runs(golden)::iterator) {
            check(run, replay(settings(run, "cache_capacity_blocks", 512), chunks, nextUse), promptTokens(chunks));
        }
    }

    static List<Integer> microCases() throws IOException {
        var numbers = new ArrayList<Integer>();
        recorded(MICRO).forEach(aCase -> numbers.add(aCase.get("case").intValue()));
        return numbers;
    }

    @ParameterizedTest
    @MethodSource("microCases")
    void smallTraces_areMetExactly(int number) throws IOException {
        var aCase = StreamSupport.stream(recorded(MICRO).spliterator(), false)
                .filter(c -> c.get("case").intValue() == number)
                .findFirst()
                .orElseThrow();
        var chunks = Traces.of(aCase.get("trace"), 7);
        var nextUse = NextUse.of(chunks);

        for (JsonNode run : aCase.get("runs")) {
            var settings = settings(run, "capacity", aCase.get("block_size").intValue());
            var result = replay(settings, chunks, nextUse);

            assertThat(result.totalHitTokens())
                    .as("%s", settings)
                    .isEqualTo(run.get("total_hit_tokens").longValue());
            assertThat(result.finalCacheBlocks())
                    .as("%s", settings)
                    .isEqualTo(run.get("final_cache_blocks").intValue());
            assertThat(result.blockAccesses() - result.blockHits())
                    .as("%s", settings)
                    .isEqualTo(run.get("block_misses").longValue());
            assertThat(Objects.requireNonNull(result.perRequestHitTokens()).toIntArray())
                    .as("%s", settings)
                    .isEqualTo(JSON.convertValue(run.get("hit_tokens"), int[].class));
        }
    }

    private static void check(JsonNode run, ReplayResult result, int[] promptTokens) throws Exception {
        ObjectNode expected = run.deepCopy();
        // Who ran what, and what tells of the policies' insides.
        expected.remove(List.of("policy", "cache_capacity_blocks", "sample", "s3fifo", "arc"));

        assertThat(JSON.readTree(JSON.writeValueAsString(found(result, promptTokens))))
                .as("%s %s", result.policy(), result.capacityBlocks())
                .isEqualTo(expected);
    }

    private static Map<String, Object> found(ReplayResult result, int[] promptTokens) throws NoSuchAlgorithmException {
        var hitTokens = Objects.requireNonNull(result.perRequestHitTokens());
        var found = new HashMap<String, Object>();
        found.put("block_size", result.blockSize());
        found.put("total_requests", result.totalRequests());
        found.put("total_prompt_tokens", result.totalPromptTokens());
        found.put("total_hit_tokens", result.totalHitTokens());
        found.put("overall_hit_rate", result.overallHitRate());
        found.put("final_cache_blocks", result.finalCacheBlocks());
        found.put("block_accesses", result.blockAccesses());
        found.put("block_hits", result.blockHits());
        found.put("block_misses", result.blockAccesses() - result.blockHits());
        found.put(
                "prefix_hit_blocks",
                hitTokens.intStream().map(tokens -> (tokens + 511) / 512).sum());
        found.put(
                "requests_zero_hit",
                hitTokens.intStream().filter(tokens -> tokens == 0).count());
        found.put("requests_fully_hit", numFullyHit(promptTokens, hitTokens));
        found.put("per_request_sha256", sha256(perRequest(promptTokens, hitTokens)));
        return found;
    }

    private static int[] promptTokens(List<TraceChunk> chunks) {
        return chunks.stream()
                .flatMapToInt(chunk -> Arrays.stream(chunk.promptTokens()))
                .toArray();
    }

    private static int numFullyHit(int[] promptTokens, IntList hitTokens) {
        int count = 0;
        for (int i = 0; i < promptTokens.length; i++) {
            count += hitTokens.getInt(i) == promptTokens[i] ? 1 : 0;
        }
        return count;
    }

    private static byte[] perRequest(int[] promptTokens, IntList hitTokens) {
        var lines = new StringBuilder();
        for (int i = 0; i < promptTokens.length; i++) {
            lines.append(i)
                    .append(',')
                    .append(promptTokens[i])
                    .append(',')
                    .append(hitTokens.getInt(i))
                    .append('\n');
        }
        return lines.toString().getBytes(StandardCharsets.UTF_8);
    }

    private static ReplaySettings settings(JsonNode run, String capacityKey, int blockSize) {
        String name = run.get("policy").textValue();
        var policy = ReplayPolicy.of(OTHER_NAMES.getOrDefault(name, name.replace('_', '-')));
        return new ReplaySettings(
                policy,
                run.get(capacityKey).asInt(ReplaySettings.UNBOUNDED),
                blockSize,
                run.path("small_ratio").asDouble(ReplaySettings.DEFAULT_SMALL_RATIO),
                run.path("max_freq").asInt(ReplaySettings.DEFAULT_MAX_FREQ));
    }

    private static Stream<JsonNode> runs(JsonNode golden) {
        return Stream.of("core", "extra")
                .flatMap(group -> StreamSupport.stream(golden.get(group).spliterator(), false));
    }

    private static ReplayResult replay(ReplaySettings settings, List<TraceChunk> chunks) {
        return replay(settings, chunks, NextUse.of(chunks));
    }

    private static ReplayResult replay(ReplaySettings settings, List<TraceChunk> chunks, NextUse nextUse) {
        var replayer = Replayer.of(settings, true, nextUse);
        chunks.forEach(replayer::accept);
        return replayer.finish();
    }

    private static JsonNode recorded(String name) throws IOException {
        try (var in = TestData.open(name)) {
            return JSON.readTree(in);
        }
    }

    private static byte[] firstLines(Path trace, int count) throws IOException {
        try (var lines = Files.lines(trace)) {
            var text = new StringBuilder();
            lines.limit(count).forEach(line -> text.append(line).append('\n'));
            return text.toString().getBytes(StandardCharsets.UTF_8);
        }
    }

    private static String sha256(byte[] bytes) throws NoSuchAlgorithmException {
        return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    }
}
