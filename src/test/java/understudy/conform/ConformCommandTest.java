package understudy.conform;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.app.CommandLineFixture.call;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.TestData;
import understudy.app.CommandLineFixture;

/**
 * A recording made by hand: 3 usable blocks of 4 tokens, one request of 6 tokens that is to give 2.
 *
 * <p>Step 0 computes 6 tokens in blocks 1 and 2, of which the first is full; the result is token 7. Step 1 computes it, and
 * the result ends the request. Its blocks are freed, the partial one to the front.
 */
final class ConformCommandTest {
    private static final String RECORDING = """
            [{"config": {"num_blocks": 4, "block_size": 4, "max_num_batched_tokens": 64, "max_num_seqs": 2,
              "policy": "fcfs", "prefix_caching": true, "max_model_len": 512, "long_prefill_token_threshold": 0,
              "chunked_prefill": true, "async": false},
             "requests": [{"id": "r00", "prompt": [1, 2, 3, 4, 5, 6], "max_tokens": 2, "priority": 0,
              "arrival_step": 0}],
             "steps": [
              {"scheduled": {"r00": 6}, "preempted": [], "new": ["r00"], "resumed": [], "running": ["r00"],
               "tables": {"r00": [1, 2]}, "free_blocks": 1, "stored": 1, "removed": 0, "finished": []},
              {"scheduled": {"r00": 1}, "preempted": [], "new": [], "resumed": [], "running": ["r00"],
               "tables": {"r00": [1, 2]}, "free_blocks": 1, "stored": 0, "removed": 0, "finished": ["r00"]}],
             "end": {"free_order": [2, 3, 1], "preemptions": 0, "queries": 6, "hits": 0, "preempted_queries": 0,
              "preempted_hits": 0}}]
            """;

    @TempDir
    private Path directory;

    @ParameterizedTest
    @CsvSource({
        "vllm-scheduler, 32, 7107",
        "vllm-pd,        32, 3329",
        "vllm-spec,      24, 2020",
        "vllm-nixl,      12, 1028",
        "vllm-offload,   24, 3261",
        "vllm-lora,      12, 1607",
        "vllm-pp,        12, 3765",
        "vllm-hybrid,    23, 4013"
    })
    void recordedDecisionsOfVllm_areOurs(String recording, int numRuns, int numSteps) {
        String file = TestData.recording(recording + ".json.gz").toString();
        String all = "workloads %1$d/%1$d, steps %2$d/%2$d identical".formatted(numRuns, numSteps);
        for (var options :
                List.of("", "--actors ", "--decode-cohort-min-seqs=0 ", "--actors --decode-cohort-min-seqs=0 ")) {
            var conform = call(("conform " + options + file).split(" "));

            assertThat(conform.out).as(options).contains("\n" + all);
            assertThat(conform.out.lines().filter(line -> line.endsWith(" steps identical")))
                    .as(options)
                    .hasSize(numRuns);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "sglang-scheduler, 20, 7979",
        "sglang-hicache,   12, 2271",
        "sglang-eagle,     12, 2899",
        "sglang-swa,       10, 2636",
        "sglang-pd,        12, 3386"
    })
    void recordedDecisionsOfSglang_areOurs(String recording, int numRuns, int numSteps) {
        String file = TestData.recording(recording + ".json.gz").toString();
        String all = "workloads %1$d/%1$d, steps %2$d/%2$d identical\n".formatted(numRuns, numSteps);
        for (var options : List.of("", "--actors ")) {
            var conform = call(("conform " + options + file).split(" "));

            assertThat(conform.out).as(options).endsWith("\n" + all);
            assertThat(conform.out.lines().filter(line -> line.endsWith(" steps identical")))
                    .as(options)
                    .hasSize(numRuns);
        }
    }

    @Test
    void decisionsOfAModelOfSglang_areOurs() {
        String file = TestData.recording("sglang-random.json.gz").toString();
        for (var options : List.of("", "--actors ")) {
            var conform = call(("conform " + options + file).split(" "));

            assertThat(conform.out).as(options).endsWith("\nworkloads 60/60, steps 2841/2841 identical\n");
        }
    }

    @Test
    void publishedKvEventsOfVllm_areOurs() {
        String file = TestData.recording("vllm-kv-events.json.gz").toString();
        for (String options : List.of("", "--actors ", "--decode-cohort-min-seqs=0 ")) {
            var conform = call(("conform " + options + file).split(" "));

            assertThat(conform.out).as(options).endsWith("workloads 11/11, steps 463/463 identical\n");
        }
    }

    @ParameterizedTest
    @CsvSource("'\"max_num_scheduled_tokens\": 32', max_num_scheduled_tokens")
    void settingThatIsNotReplayed_isNamed(String setting, String name) throws IOException {
        String file = write(RECORDING.replace("\"async\": false", "\"async\": false, " + setting));

        var conform = call("conform", file);

        assertThat(conform.out)
                .isEqualTo("workload 1 (1 requests, 4 blocks, fcfs): not replayed: " + name + '\n'
                        + "workloads 0/0, steps 0/0 identical; workloads not replayed: 1\n");
        assertThat(conform.exitCode).isEqualTo(1);
        assertThat(call("conform", "--actors", file).out).isEqualTo(conform.out);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"\"groups\": null", "\"groups\": []", "\"max_loras\": 0", "\"num_speculative_tokens\": null"})
    void settingThatMeansNothing_isReplayed(String setting) throws IOException {
        String file = write(RECORDING.replace("\"async\": false", "\"async\": false, " + setting));

        assertThat(call("conform", file).exitCode).isZero();
    }

    @Test
    void identicalRecording_isALineAndASum() throws IOException {
        var conform = call("conform", write(RECORDING));

        assertThat(conform.out).isEqualTo("""
                workload 1 (1 requests, 4 blocks, fcfs): 2 steps identical
                workloads 1/1, steps 2/2 identical
                """);
        assertThat(conform.exitCode).isZero();
        assertThat(call("conform", "--actors", write(RECORDING)).out).isEqualTo(conform.out);
    }

    @Test
    void gzip_isReadToo() throws IOException {
        var file = directory.resolve("recorded.json.gz");
        try (var out = new GZIPOutputStream(Files.newOutputStream(file))) {
            out.write(RECORDING.getBytes(StandardCharsets.UTF_8));
        }

        assertThat(call("conform", file.toString(), write(RECORDING)).out)
                .endsWith("workloads 2/2, steps 4/4 identical\n");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "\"scheduled\": {\"r00\": 1} | \"scheduled\": {\"r00\": 2} | scheduled",
                "\"new\": [\"r00\"] | \"new\": [] | new",
                "\"stored\": 1 | \"stored\": 2 | stored",
                "\"free_order\": [2, 3, 1] | \"free_order\": [1, 2, 3] | free_order",
                "\"queries\": 6 | \"queries\": 7 | queries"
            })
    void difference_isNamedWithStepAndFieldAndExitsWithOne(String recorded, String changed, String field)
            throws IOException {
        assertThat(RECORDING).contains(recorded);
        String file = write(RECORDING.replace(recorded, changed));

        for (var conform : new CommandLineFixture[] {call("conform", file), call("conform", "--actors", file)}) {
            assertThat(conform.exitCode).isEqualTo(1);
            assertThat(conform.out).contains(field).contains("expected").contains("workloads 0/1");
        }
    }

    @Test
    void recordingThatCannotHaveHappened_isADifference() throws IOException {
        // Two usable blocks hold 8 tokens; a request of 12 can never run.
        String file = write(RECORDING
                .replace("\"num_blocks\": 4", "\"num_blocks\": 3")
                .replace("[1, 2, 3, 4, 5, 6]", "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]"));

        assertThat(call("conform", file).exitCode).isEqualTo(1);
        assertThat(call("conform", "--actors", file).exitCode).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "nonsense | not JSON",
                "'' | has no workloads",
                "[] | has no workloads",
                "[{}] | workload 1 has no field config",
                "[{\"config\": {}}] | workload 1 has no field requests"
            })
    void malformedFile_isOneClearLineAndExitTwo(String text, String problem) throws IOException {
        String file = write(text == null ? "" : text);

        var conform = call("conform", file);

        assertThat(conform.exitCode).isEqualTo(2);
        assertThat(conform.err.lines()).hasSize(1);
        assertThat(conform.err).startsWith(file + ": ").contains(problem);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "\"fcfs\" | \"lifo\" | workload 1.config.policy is \"lifo\", must be fcfs or priority",
                "\"block_size\": 4 | \"block_size\": 0 | block_size is 0, must be a whole number of at least 1",
                "\"id\": \"r00\" | \"id\": \"zero\" | .id is \"zero\", must be a letter and a number",
                "[1, 2, 3, 4, 5, 6] | [1, -2] | .prompt[1] is -2, must be a whole number of at least 0"
            })
    void malformedValue_isNamedWithItsPath(String good, String bad, String problem) throws IOException {
        assertThat(RECORDING).contains(good);

        var conform = call("conform", write(RECORDING.replace(good, bad)));

        assertThat(conform.exitCode).isEqualTo(2);
        assertThat(conform.err.lines()).hasSize(1);
        assertThat(conform.err).contains(problem);
    }

    /** 65,536 and 65,537 share no factor: blocks of both end together after 4,295,032,832 tokens, more than an int has. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    "groups": [{"kind": "full_attention", "block_size": 65536}, {"kind": "mamba", "block_size": 65537}] \
                    | workload 1.config.groups has block sizes whose least common multiple is above 2147483647
                    "spec_method": "oracle", "num_speculative_tokens": 2 \
                    | workload 1.config.spec_method is "oracle", must be a method that vLLM has, such as eagle
                    """)
    void settingThatNoEngineHas_isNamed(String setting, String problem) throws IOException {
        var conform = call("conform", write(RECORDING.replace("\"async\": false", "\"async\": false, " + setting)));

        assertThat(conform.exitCode).isEqualTo(2);
        assertThat(conform.err.lines()).hasSize(1);
        assertThat(conform.err).contains(problem);
    }

    /** Two steps in flight with 2,147,483,647 tokens each are more than an int has. */
    @Test
    void budgetWithoutABound_isReplayed() throws IOException {
        String file = write(RECORDING
                .replace("\"max_num_batched_tokens\": 64", "\"max_num_batched_tokens\": 2147483647")
                .replace(
                        "\"async\": false",
                        "\"async\": true, \"groups\": [{\"kind\": \"full_attention\", \"block_size\": 4}]"));

        var conform = call("conform", file);

        assertThat(conform.err).isEmpty();
        assertThat(conform.exitCode).isLessThan(2);
    }

    @Test
    void missingFile_isReported() {
        var conform = call("conform", "nowhere.json");

        assertThat(conform.exitCode).isEqualTo(2);
        assertThat(conform.err).isEqualTo("nowhere.json: no such file\n");
    }

    private String write(String text) throws IOException {
        return Files.writeString(directory.resolve("recorded.json"), text).toString();
    }
}
