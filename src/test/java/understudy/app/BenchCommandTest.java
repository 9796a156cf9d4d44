package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.app.CommandLineFixture.call;

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
import understudy.api.ServerFixture;

final class BenchCommandTest {
    private static final ServerFixture SERVER = new ServerFixture();

    @TempDir
    private Path directory;

    @BeforeAll
    static void start() {
        SERVER.start();
    }

    @AfterAll
    static void stop() {
        SERVER.close();
    }

    @Test
    void random_sendsAsManyTokensAsItSays() throws IOException {
        var json = bench("--num-prompts", "5", "--input-len", "30", "--random-prefix-len", "16", "--output-len", "7")
                .json();

        // 5 prompts of 16 shared tokens and 30 of their own, 5 answers of 7.
        assertThat(json.get("completed").intValue()).isEqualTo(5);
        assertThat(json.get("total_input_tokens").intValue()).isEqualTo(230);
        assertThat(json.get("total_output_tokens").intValue()).isEqualTo(35);
        assertThat(json.get("model_id").textValue()).isEqualTo("m");
        assertThat(json.get("request_rate").textValue()).isEqualTo("inf");
    }

    @Test
    void page_hasWhatTheConsoleHas_andEveryRequest(@TempDir Path directory) throws IOException {
        var page = directory.resolve("page.html");

        bench("--num-prompts", "5", "--input-len", "30", "--output-len", "7", "--html", page.toString());

        assertThat(Files.readString(page))
                .contains("[\"Successful requests\",\"5\"]")
                .contains("\"ttft_from_schedule\":{\"xs\":[")
                .contains("TTFT of every request");
    }

    @Test
    void prefixRepetition_sharesItsPrefixesEvenly() throws IOException {
        double before = SERVER.metric("vllm:prefix_cache_hits_total", "");
        var json = bench(
                        "--dataset-name=prefix_repetition",
                        "--num-prompts=13",
                        "--prefix-repetition-num-prefixes=6",
                        "--prefix-repetition-prefix-len=32",
                        "--prefix-repetition-suffix-len=10",
                        "--max-concurrency=1",
                        "--output-len=2",
                        "--num-warmups=0")
                .json();

        // Two prompts for each of six prefixes; the second one finds the 32 tokens in the cache.
        assertThat(json.get("completed").intValue()).isEqualTo(12);
        assertThat(json.get("total_input_tokens").intValue()).isEqualTo(12 * 42);
        SERVER.awaitMetric("vllm:prefix_cache_hits_total", "", hits -> hits - before == 6 * 32);
    }

    @Test
    void shareGpt_sendsTheTextOfItsFile() throws IOException {
        var chats = Files.writeString(
                directory.resolve("chats.json"),
                "[{\"conversations\": [{\"value\": \"What is the name of the river in Vienna?\"},"
                        + " {\"value\": \"It is the Danube, of course.\"}]}]");

        var json = bench("--dataset-name", "sharegpt", "--dataset-path", chats.toString(), "--num-prompts", "2")
                .json();

        // Ten tokens each, as the server counts them, too: nine words and a mark.
        assertThat(json.get("completed").intValue()).isEqualTo(2);
        assertThat(json.get("total_input_tokens").intValue()).isEqualTo(20);
    }

    @Test
    void chat_countsTheAnswersTokens() throws IOException {
        var json = bench(
                        "--endpoint",
                        "/v1/chat/completions",
                        "--num-prompts",
                        "3",
                        "--input-len",
                        "9",
                        "--output-len",
                        "4")
                .json();

        assertThat(json.get("backend").textValue()).isEqualTo("openai-chat");
        assertThat(json.get("total_output_tokens").intValue()).isEqualTo(12);
    }

    @Test
    void scenario_givesTheWorkload_andOptionsWin() throws IOException {
        var scenario = Files.writeString(
                directory.resolve("s.conf"),
                "workload { requests = 9, lengths { prompt { kind = fixed, mean = 12 }, output { kind = fixed, mean ="
                        + " 3 } } }");

        var json = bench(scenario.toString(), "--num-prompts=4", "--request-rate=200", "--burstiness=inf")
                .json();

        assertThat(json.get("num_prompts").intValue()).isEqualTo(4);
        assertThat(json.get("total_input_tokens").intValue()).isEqualTo(48);
        assertThat(json.get("request_rate").doubleValue()).isEqualTo(200);
        assertThat(json.get("burstiness").textValue()).isEqualTo("inf");
    }

    @Test
    void result_isSavedUnderTheNameOfVllm() throws IOException {
        var run = call(with(
                "--num-prompts=2", "--output-len=2", "--save-result", "--save-detailed", "--result-dir=" + directory));

        assertThat(run.out).startsWith("============ Serving Benchmark Result ============\n");
        try (var files = Files.list(directory)) {
            var file = files.toList().get(0);
            assertThat(file.getFileName().toString()).matches("openai-infqps-m-\\d{8}-\\d{6}\\.json");
            assertThat(new ObjectMapper().readTree(file.toFile()).get("output_lens"))
                    .hasToString("[2,2]");
        }
    }

    @Test
    void noAnswerAtAll_isExitCodeOne() {
        var run = call(with("--model=nobody", "--num-prompts=2", "--num-warmups=0"));

        assertThat(run.exitCode).isEqualTo(1);
        assertThat(run.out).endsWith("2 x HTTP 404: The model `nobody` does not exist.\n");
        assertThat(call(with("--model=nobody")).err)
                .isEqualTo(
                        "a warm-up request failed: HTTP 404: The model `nobody` does not exist. (--num-warmups 0 does"
                                + " without)\n");
    }

    @Test
    void serverThatIsNotThere_isOneLine() {
        var run = call("bench", "http://127.0.0.1:1");

        assertThat(run.exitCode).isEqualTo(1);
        assertThat(run.err).isEqualTo("http://127.0.0.1:1/v1/models: cannot be reached: connection refused\n");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        --goodput=ttfb:3                | --goodput ttfb:3: must be a metric
        --goodput=ttft:x                | --goodput ttft:x: must be a metric
        --endpoint=/v1/embeddings       | --endpoint /v1/embeddings: must be a path
        --extra-body=[]                 | --extra-body []: not a JSON object
        --extra-body={                  | --extra-body {: not a JSON object
        --percentile-metrics=ttfb       | --percentile-metrics ttfb: must be one of ttft, tpot
        --metric-percentiles=101        | --metric-percentiles 101.0: must be from 0 to 100
        --random-range-ratio=1          | --random-range-ratio 1.0: must be from 0 to below 1
        --ramp-up-strategy=linear       | --ramp-up-strategy: needs --ramp-up-start-rps
        --cancel-rate=2                 | --cancel-rate 2.0 --cancel-after 10: must be a share
        --dataset-name=sharegpt         | workload.trace
        --request-rate=0                | workload.arrivals.request-rate
        --result-filename=nowhere/x     | --result-dir .: no such directory
        """)
    void badInput_isOneLine(String option, String message) {
        var run = call(with(option));

        assertThat(run.exitCode).isEqualTo(2);
        assertThat(run.err).contains(message);
        assertThat(run.err.lines()).hasSize(1);
    }

    @Test
    void rateOfATrace_isRefused() {
        var run = call("bench", SERVER.url(), "conf/mooncake.conf", "--request-rate=3");

        assertThat(run.exitCode).isEqualTo(2);
        assertThat(run.err).startsWith("--request-rate: this workload.kind has times of its own");
    }

    private CommandLineFixture bench(String... arguments) {
        var all = new ArrayList<>(List.of(with(arguments)));
        all.addAll(List.of("--json", "-"));
        var run = call(all.toArray(String[]::new));
        assertThat(run.exitCode).as(run.err).isZero();
        return run;
    }

    private static String[] with(String... arguments) {
        var all = new ArrayList<>(List.of("bench", SERVER.url()));
        all.addAll(List.of(arguments));
        return all.toArray(String[]::new);
    }
}
