package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static understudy.app.CommandLineFixture.call;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import de.siegmar.fastcsv.reader.CsvReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.TestData;

/**
 * A trace of three requests and three blocks of 512 tokens, worked out by hand.
 *
 * <p>LRU of 2 blocks: 1 and 2 come in. Block 1 hits 512 tokens, then 3 pushes out 2, which was used longer ago. Block 1 hits
 * again, 2 does not: 1024 of 3024 tokens, 2 of 6 accesses. LRU of 3 blocks: nothing is pushed out, so the third request hits
 * all its 1000 tokens: 1512 of 3024 tokens, 3 of 6 accesses.
 */
final class ReplayCommandTest {
    private static final String FIRST = line(0, 1000, "1, 2");
    private static final String SECOND = line(500, 1024, "1, 3");
    private static final String THIRD = line(61_000, 1000, "1, 2");

    @TempDir
    private Path directory;

    private String trace;

    @BeforeEach
    void writeTrace() throws IOException {
        trace = write("trace.jsonl", FIRST + SECOND + THIRD);
    }

    @Test
    void runs_haveTheNumbersWorkedOutByHand() throws IOException {
        var json = call("replay", trace, "--policy", "lru,infinite", "--capacity", "3,2", "--json", "-")
                .json();

        var runs = json.path("runs");
        assertThat(runs).hasSize(3);
        assertRun(runs.get(0), "lru", "2", 1024, 2, 2);
        assertRun(runs.get(1), "lru", "3", 1512, 3, 3);
        assertRun(runs.get(2), "infinite", "null", 1512, 3, 3);
    }

    private static void assertRun(
            JsonNode run, String policy, String capacity, long hitTokens, int blockHits, int finalBlocks) {
        assertThat(run.fieldNames())
                .toIterable()
                .containsExactly(
                        "policy",
                        "cache_capacity_blocks",
                        "block_size",
                        "total_requests",
                        "total_prompt_tokens",
                        "total_hit_tokens",
                        "overall_hit_rate",
                        "final_cache_blocks",
                        "block_accesses",
                        "block_hits");
        assertThat(run.path("policy").asText()).isEqualTo(policy);
        assertThat(run.path("cache_capacity_blocks").toString()).isEqualTo(capacity);
        assertThat(run.path("block_size").asInt()).isEqualTo(512);
        assertThat(run.path("total_requests").asInt()).isEqualTo(3);
        assertThat(run.path("total_prompt_tokens").asLong()).isEqualTo(3024);
        assertThat(run.path("total_hit_tokens").asLong()).isEqualTo(hitTokens);
        assertThat(run.path("overall_hit_rate").asDouble()).isEqualTo(hitTokens / 3024.0);
        assertThat(run.path("final_cache_blocks").asInt()).isEqualTo(finalBlocks);
        assertThat(run.path("block_accesses").asInt()).isEqualTo(6);
        assertThat(run.path("block_hits").asInt()).isEqualTo(blockHits);
    }

    @Test
    void perRequest_addsUpToTheTotals() throws IOException {
        var run = call("replay", trace, "--policy=lru", "--capacity=2", "--per-request", "--json=-")
                .json()
                .path("runs")
                .get(0);

        assertThat(run.path("per_request"))
                .extracting(JsonNode::toString)
                .containsExactly(
                        "{\"prompt_tokens\":1000,\"hit_tokens\":0}",
                        "{\"prompt_tokens\":1024,\"hit_tokens\":512}",
                        "{\"prompt_tokens\":1000,\"hit_tokens\":512}");
    }

    @Test
    void sharing_hasTheNumbersWorkedOutByHand() throws IOException {
        var json = call("replay", trace, "--json", "-").json();

        // Three of six accesses are reuses. Block 1 has one other block in between, both times, which an LRU cache of 2
        // hits;
        // block 2 has 1 and 3, so that it takes 3, which is in the class up to 4. They come after 0.5, 60.5 and 61 s.
        var sharing = json.path("sharing");
        assertThat(sharing.path("reuses").asInt()).isEqualTo(3);
        var distances = sharing.path("reuse_distance");
        assertThat(distances).extracting(d -> d.path("lru_blocks").asInt()).containsExactly(1, 2, 4);
        assertThat(distances).extracting(d -> d.path("reuses").asInt()).containsExactly(0, 2, 1);
        assertThat(distances)
                .extracting(d -> d.path("cumulative_reuses").asInt())
                .containsExactly(0, 2, 3);
        assertThat(distances)
                .extracting(d -> d.path("share_of_accesses").asDouble())
                .containsExactly(0.0, 2 / 6.0, 0.5);
        var times = sharing.path("reuse_within");
        assertThat(times).extracting(t -> t.path("seconds").asInt()).containsExactly(1, 60, 600, 3600);
        assertThat(times).extracting(t -> t.path("reuses").asInt()).containsExactly(1, 1, 3, 3);
        assertThat(times)
                .extracting(t -> t.path("share_of_reuses").asDouble())
                .containsExactly(1 / 3.0, 1 / 3.0, 1.0, 1.0);
        assertThat(json.path("trace").path("distinct_blocks").asInt()).isEqualTo(3);
    }

    @Test
    void percentages_areOfTheDifferentBlocks() throws IOException {
        // 67 % of 3 blocks are 2.01, so 2 blocks, which is there already; 100 % are 3; 1 % is at least one block.
        var json = call("replay", trace, "--policy", "lru", "--capacity", "2,67%,100%,1%", "--json", "-")
                .json();

        assertThat(json.path("runs"))
                .extracting(run -> run.path("cache_capacity_blocks").asInt())
                .containsExactly(1, 2, 3);
    }

    @Test
    void files_areOneStream() throws IOException {
        var second = directory.resolve("second.jsonl.gz");
        try (var out = new GZIPOutputStream(Files.newOutputStream(second))) {
            out.write((SECOND + THIRD).getBytes(StandardCharsets.UTF_8));
        }
        String first = write("first.jsonl", FIRST);

        var parts = call("replay", first, second.toString(), "--policy=arc,belady", "--capacity=2", "--json=-");
        var whole = call("replay", trace, "--policy=arc,belady", "--capacity=2", "--json=-");

        assertThat(parts.json().path("runs")).isEqualTo(whole.json().path("runs"));
        assertThat(parts.json().path("sharing")).isEqualTo(whole.json().path("sharing"));
        assertThat(parts.json().path("trace").path("files")).hasSize(2);
    }

    @Test
    void timeThatRunsBack_leavesNoViewByTime() throws IOException {
        assertThat(call("replay", trace, trace, "--json", "-")
                        .json()
                        .path("sharing")
                        .path("reuse_within")
                        .isNull())
                .isTrue();
        assertThat(call("replay", trace, trace).out).contains("Timestamps run back at request 4");
    }

    @Test
    void limit_readsTheFirstRequests() throws IOException {
        var json = call("replay", trace, "--policy=lru", "--capacity=9", "--limit=2", "--json=-")
                .json();

        assertThat(json.path("runs").get(0).path("total_requests").asInt()).isEqualTo(2);
    }

    @Test
    void table_marksTheBestAndHasBoundsBelow() {
        var replay = call("replay", trace, "--policy", "infinite,lru,fifo", "--capacity", "2");

        assertThat(replay.exitCode).isZero();
        assertThat(replay.err).isEmpty();
        // FIFO of 2 blocks: 1 hits 512 tokens; 3 pushes out 1, the first to have come in; then 1 is a miss: 512 / 3024.
        assertThat(replay.out.lines().filter(line -> line.startsWith("|")).limit(5))
                .containsExactly(
                        "| policy   | 2 (66.67%) |",
                        "| lru      |    * 33.86 |",
                        "| fifo     |      16.93 |",
                        "|          |            |",
                        "| infinite |      50.00 |");
    }

    @Test
    void csv_canBeReadBack() throws IOException {
        var file = directory.resolve("out.csv");

        assertThat(call("replay", trace, "--policy=lru,infinite", "--capacity=2", "--csv=" + file).out)
                .contains("policy");

        try (var csv = CsvReader.builder().ofNamedCsvRecord(file)) {
            var rows = csv.stream().toList();
            assertThat(rows).hasSize(2);
            assertThat(rows.get(0).getFieldsAsMap())
                    .containsEntry("policy", "lru")
                    .containsEntry("cache_capacity_blocks", "2")
                    .containsEntry("total_hit_tokens", "1024")
                    .containsEntry("overall_hit_rate", String.valueOf(1024 / 3024.0))
                    .hasSize(10);
            assertThat(rows.get(1).getField("cache_capacity_blocks")).isEmpty();
        }
        assertThat(call("replay", trace, "--csv", "-").out).startsWith("policy,cache_capacity_blocks,block_size,");
    }

    @Test
    void pairsThatAreNotDefined_areLeftOutUnlessSpelledOut() throws IOException {
        // A tenth of 3 blocks rounds to none for the small queue.
        var open = call("replay", trace, "--capacity", "3", "--json", "-");

        assertThat(open.exitCode).isZero();
        assertThat(open.err.lines()).hasSize(1);
        assertThat(open.err).startsWith("warning: --capacity 3: s3fifo is not defined for a capacity of 3: ");
        assertThat(open.json().path("runs"))
                .hasSize(9)
                .noneMatch(run -> run.path("policy").asText().equals("s3fifo"));
        assertThat(call("replay", trace, "--policy", "s3fifo").err)
                .contains("; left out\n")
                .endsWith("nothing is left to be replayed; choose other values of --policy and --capacity\n");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--policy lru,mru | --policy: policy is mru, must be one of lru, lfu, lfu-fifo, fifo, s3fifo, arc,",
                "--capacity 0 | --capacity has \"0\", must be blocks from 1 to 2147483647, or a share",
                "--capacity 99999999999 | --capacity has \"99999999999\", must be blocks from 1 to 2147483647",
                "--capacity 0% | --capacity has \"0%\", must be",
                "--capacity 101% | --capacity has \"101%\", must be",
                "--capacity -4 | --capacity has \"-4\", must be",
                "--capacity ten | --capacity has \"ten\", must be",
                "--policy s3fifo --capacity 3 | --capacity 3: s3fifo is not defined for a capacity of 3",
                "--policy s3fifo --capacity 100% | --capacity 100%: s3fifo is not defined for a capacity of 3",
                "--small-ratio 1 | --small-ratio is 1.0, must be a number between 0 and 1",
                "--small-ratio NaN | --small-ratio is NaN, must be a number between 0 and 1",
                "--capacity , | --capacity names no capacity",
                "--policy , | --policy names no policy",
                "--json {trace} | --json {trace}: is the trace itself",
                "--max-freq -1 | --max-freq is -1, must be at least 0",
                "--block-size 0 | --block-size is 0, must be at least 1",
                "--block-size 16 | :1: input_length is 1000, which is 62 or 63 blocks of 16 tokens, but hash_ids has 2;"
                        + " the trace goes with a block size of 512 (342 to 999)",
                "--limit 0 | --limit is 0, must be at least 1",
                "--limit many | 'many' is not a long",
                "--per-request | --per-request adds to the JSON, which needs --json",
                "--json - --csv - | --json, --csv, --html: two of them are to go to stdout",
                "--html /nowhere/x.html | --html /nowhere/x.html: no such directory",
                "--csv / | --csv /: / is a directory"
            })
    void badOption_isOneClearLineAndExitTwo(String options, String problem) {
        var replay = call(("replay " + trace + " " + options.replace("{trace}", trace)).split(" "));

        assertThat(replay.exitCode).isEqualTo(2);
        assertThat(replay.err.lines()).hasSize(1);
        assertThat(replay.err).contains(problem.replace("{trace}", trace));
        assertThat(replay.out).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "nonsense | not JSON",
                "{\"timestamp\": 0, \"input_length\": 5, \"output_length\": 5} | field hash_ids is missing",
                "{\"timestamp\": 0, \"input_length\": -5, \"output_length\": 5, \"hash_ids\": [1]} | input_length is -5, must be",
                "{\"timestamp\": 0, \"input_length\": 5, \"output_length\": 5, \"hash_ids\": [1, 2]}"
                        + " | input_length is 5, which is 0 or 1 blocks of 512 tokens, but hash_ids has 2"
            })
    void badLine_isOneClearLineAndNothingIsWritten(String line, String problem) throws IOException {
        String bad = write("bad.jsonl", FIRST + line + "\n" + THIRD);
        var json = directory.resolve("out.json");

        var replay = call("replay", bad, "--json", json.toString());

        assertThat(replay.exitCode).isEqualTo(2);
        assertThat(replay.err.lines()).hasSize(1);
        assertThat(replay.err).startsWith(bad + ":2: ").contains(problem);
        assertThat(replay.out).isEmpty();
        assertThat(json).doesNotExist();
    }

    @Test
    void badLineFarDown_endsTheReplaysThatHaveBegun() throws IOException {
        // 20,000 requests of two accesses are more than one chunk, so the caches of a known size are being filled
        // already.
        String bad = write("bad.jsonl", FIRST.repeat(20_000) + "nonsense\n");

        var replay = call("replay", bad, "--capacity", "2,3,10,100", "--policy", "lru,arc,infinite");

        assertThat(replay.exitCode).isEqualTo(2);
        assertThat(replay.err).startsWith(bad + ":20001: not JSON").hasLineCount(1);
        assertThat(replay.out).isEmpty();
    }

    @Test
    void shareOfTheBlocks_isTheSameAsTheirNumber() throws IOException {
        var lines = new StringBuilder();
        for (int i = 0; i < 20_000; i++) {
            lines.append(line(i, 1024, i % 800 + ", " + (1000 + i * 7 % 1_200)));
        }
        String file = write("long.jsonl", lines.toString());

        // 2,000 different blocks: the numbers are replayed while the trace is being read, the shares afterwards.
        var numbers = call("replay", file, "--capacity", "100,1000", "--json", "-");
        var shares = call("replay", file, "--capacity", "5%,50%", "--json", "-");

        assertThat(numbers.json().path("trace").path("distinct_blocks").asInt()).isEqualTo(2_000);
        assertThat(numbers.jsonWithoutHost()).isEqualTo(shares.jsonWithoutHost());
    }

    @Test
    void emptyTrace_isRefused() throws IOException {
        String empty = write("empty.jsonl", "");

        var replay = call("replay", trace, empty);

        assertThat(replay.exitCode).isEqualTo(2);
        assertThat(replay.err).isEqualTo(empty + ": the trace has no requests\n");
    }

    @Test
    void azureTrace_isRefused() {
        var azure = TestData.require("traces/azure_2023_conv.csv");

        var replay = call("replay", azure.toString());

        assertThat(replay.exitCode).isEqualTo(2);
        assertThat(replay.err.lines()).hasSize(1);
        assertThat(replay.err).startsWith(azure + ":1: an Azure trace says how long prompts are");
    }

    @Test
    void sameTrace_givesTheSameBytes() throws IOException {
        var lines = new StringBuilder();
        for (int i = 0; i < 20_000; i++) {
            lines.append(line(i, 1536, i % 97 + ", " + (1000 + i % 2_003) + ", " + (10_000 + i)));
        }
        String file = write("long.jsonl", lines.toString());

        var first = call("replay", file, "--capacity", "100,1000,10%", "--json", "-");
        var second = call("replay", file, "--capacity", "100,1000,10%", "--json", "-");

        assertThat(first.jsonWithoutHost()).isEqualTo(second.jsonWithoutHost());
    }

    @Test
    void conversationTrace_hasThePublishedHits() throws IOException {
        var conversation = TestData.require("traces/conversation_trace.jsonl");

        var run = call(
                        "replay",
                        conversation.toString(),
                        "--limit=2000",
                        "--policy=s3fifo",
                        "--capacity=4096",
                        "--json=-")
                .json()
                .path("runs")
                .get(0);

        // Published with the task whose rules these are.
        assertThat(run.path("total_hit_tokens").asLong()).isEqualTo(2_394_659);
        assertThat(run.path("final_cache_blocks").asInt()).isEqualTo(2_535);
        assertThat(run.path("overall_hit_rate").asDouble()).isEqualTo(0.08726327241088713, within(0.0));
    }

    @Test
    void filesAndStdout_agree() throws IOException {
        var file = directory.resolve("out.json");

        var table = call("replay", trace, "--policy=lru", "--capacity=2", "--json=" + file);
        var json = call("replay", trace, "--policy=lru", "--capacity=2", "--json=-");

        assertThat(table.out).contains("33.86").contains("1 replay, ");
        assertThat(new ObjectMapper().readTree(file.toFile()).path("runs"))
                .isEqualTo(json.json().path("runs"));
        try (var left = Files.list(directory)) {
            assertThat(left.map(path -> path.getFileName().toString()).toList())
                    .containsExactlyInAnyOrderElementsOf(List.of("trace.jsonl", "out.json"));
        }
    }

    private static String line(long millis, int promptTokens, String ids) {
        return "{\"timestamp\": %d, \"input_length\": %d, \"output_length\": 1, \"hash_ids\": [%s]}\n"
                .formatted(millis, promptTokens, ids);
    }

    private String write(String name, String text) throws IOException {
        return Files.writeString(directory.resolve(name), text).toString();
    }
}
