package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.app.CommandLineFixture.call;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.api.ServerFixture;

/** SGLang's benchmark: its options, its lines and its keys ({@code python/sglang/bench_serving.py}). */
final class BenchServingCommandTest {
    private static final ServerFixture SERVER = new ServerFixture();

    @TempDir
    private Path directory;

    @BeforeAll
    static void start() {
        SERVER.moreSettings = """
            engine.kind = sglang
            kv-cache.num-gpu-blocks = auto
            engine.sglang.max-total-tokens = 16000
            """;
        SERVER.start();
    }

    @AfterAll
    static void stop() {
        SERVER.close();
    }

    private CommandLineFixture bench(String... more) {
        var words = new ArrayList<>(List.of(
                "bench-serving",
                "--base-url",
                "http://127.0.0.1:" + SERVER.server().address().getPort(),
                "--output-file",
                directory.resolve("out.jsonl").toString()));
        words.addAll(List.of(more));
        return call(words.toArray(String[]::new));
    }

    private JsonNode lastLine() throws IOException {
        var lines = Files.readAllLines(directory.resolve("out.jsonl"));
        return new ObjectMapper().readTree(lines.get(lines.size() - 1));
    }

    @ParameterizedTest
    @CsvSource({
        "sglang, --tokenize-prompt",
        "sglang-native, --disable-tqdm",
        "sglang-oai, --disable-tqdm",
        "sglang-oai-chat, --disable-tqdm"
    })
    void backends_sendAsManyTokensAsTheySay(String backend, String more) throws IOException {
        var ran = bench(
                "--backend",
                backend,
                "--dataset-name=random-ids",
                "--num-prompts=5",
                "--random-input-len=30",
                "--random-output-len=7",
                "--random-range-ratio=1.0",
                "--max-concurrency=2",
                more);

        assertThat(ran.exitCode).as(ran.err).isZero();
        var json = lastLine();
        // 5 answers of 7 tokens.
        assertThat(json.get("completed").intValue()).isEqualTo(5);
        assertThat(json.get("total_output_tokens").intValue()).isEqualTo(35);
        assertThat(json.get("backend").textValue()).isEqualTo(backend);
        if (backend.equals("sglang")) {
            assertThat(json.get("total_input_tokens").intValue()).isEqualTo(150);
        }
    }

    /** The lines of SGLang's format strings: names in 40 columns, values in 10, titles in the middle of 50. */
    @Test
    void report_hasSglangsLines() {
        var lines = bench("--dataset-name=random-ids", "--num-prompts=3", "--random-input=20", "--random-output=4")
                .out
                .lines()
                .toList();

        assertThat(lines)
                .contains(
                        "============ Serving Benchmark Result ============",
                        "Backend:                                 sglang    ",
                        "Traffic request rate:                    inf       ",
                        "Max request concurrency:                 not set   ",
                        "Successful requests:                     3         ",
                        "----------------End-to-End Latency----------------",
                        "---------------Time to First Token----------------",
                        "-----Time per Output Token (excl. 1st token)------",
                        "---------------Inter-Token Latency----------------",
                        "=".repeat(50))
                .anyMatch(line -> line.startsWith("Mean E2E Latency (ms):                   "))
                .anyMatch(line -> line.startsWith("Max ITL (ms):                            "));
    }

    @Test
    void file_getsALineForEachRun_withSglangsKeys() throws IOException {
        String[] words = {
            "--dataset-name=random-ids", "--num-prompts=2", "--random-input-len=20", "--random-output-len=4"
        };
        bench(words);
        bench("--dataset-name=random-ids", "--num-prompts=2", "--random-output-len=4", "--output-details");

        assertThat(Files.readAllLines(directory.resolve("out.jsonl"))).hasSize(2);
        var names = new ArrayList<String>();
        lastLine().fieldNames().forEachRemaining(names::add);
        assertThat(names)
                .contains(
                        "sharegpt_output_len",
                        "random_input_len",
                        "random_output_len",
                        "random_range_ratio",
                        "duration",
                        "total_output_tokens_retokenized",
                        "input_throughput",
                        "mean_e2e_latency_ms",
                        "std_ttft_ms",
                        "p99_tpot_ms",
                        "p95_itl_ms",
                        "concurrency",
                        "accept_length")
                .endsWith("input_lens", "output_lens", "ttfts", "itls", "generated_texts", "errors");
        assertThat(lastLine().get("itls").get(0))
                .hasSize(lastLine().get("output_lens").get(0).intValue() - 1);
    }

    @Test
    void sharedPrefixes_areFoundAgain() throws IOException {
        var ran = bench(
                "--dataset-name=generated-shared-prefix",
                "--gsp-num-groups=2",
                "--gsp-prompts-per-group=3",
                "--gsp-system-prompt-len=64",
                "--gsp-question-len=10",
                "--gsp-output-len=2",
                "--tokenize-prompt");

        assertThat(ran.exitCode).as(ran.err).isZero();
        assertThat(lastLine().get("completed").intValue()).isEqualTo(6);
        // 6 prompts of 64 and 10 tokens.
        assertThat(lastLine().get("total_input_tokens").intValue()).isEqualTo(6 * 74);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"--backend=trt", "--dataset-name=mmmu", "--random-range-ratio=2", "--extra-request-body=[]"})
    void whatThereIsNot_isRefused(String option) {
        var words =
                option.startsWith("--dataset") ? new String[] {option} : new String[] {option, "--dataset-name=random"};

        var ran = bench(words);

        assertThat(ran.exitCode).isEqualTo(2);
        assertThat(ran.err.lines()).hasSize(1).first().asString().startsWith(option.replaceFirst("=.*", ""));
    }

    @Test
    void benchWithABackend_isMeant() {
        assertThat(BenchServingCommand.named("bench", "--port", "1", "--backend", "vllm"))
                .containsExactly("bench-serving", "--port", "1", "--backend", "vllm");
        assertThat(BenchServingCommand.named("bench", "http://localhost:8000"))
                .containsExactly("bench", "http://localhost:8000");
        assertThat(call("sglang", "-m", "sglang.bench_serving", "--help").out).contains("--gsp-num-groups");
    }

    /** A server of vLLM has no such path: a run on its warm cache would look like one on a cold one. */
    @Test
    void cacheThatIsNotEmptied_isAnError() {
        String[] words = {"--flush-cache", "--dataset-name=random-ids", "--num-prompts=1", "--random-output-len=2"};

        assertThat(bench(words).exitCode).isZero();
        try (var vllm = new ServerFixture()) {
            vllm.start();
            var url = "http://127.0.0.1:" + vllm.server().address().getPort();
            var all = new ArrayList<>(List.of(
                    "bench-serving",
                    "--base-url",
                    url,
                    "--output-file",
                    directory.resolve("x.jsonl").toString()));
            all.addAll(List.of(words));
            var ran = call(all.toArray(String[]::new));

            assertThat(ran.exitCode).isEqualTo(1);
            assertThat(ran.err).contains("/flush_cache: the cache was not emptied, but HTTP 404; leave out");
        }
    }
}
