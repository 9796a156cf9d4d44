package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.app.CommandLineFixture.call;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.TestData;

final class FidelityCommandTest {
    private static final String SIMPLE = "isl,osl,concurrency,tp,mean_ttft_ms,mean_tpot_ms\n";
    private static final String FULL =
            "backend,model_path,system,precision,mode,isl,osl,gemm_quant_mode,moe_quant_mode,"
                    + "batch_size,tp_size,attention_dp_size,moe_tp_size,moe_ep_size,silicon_data_source,silicon_ttft_ms,"
                    + "silicon_tpot_ms,of_no_matter\n";

    /** Each step takes 10 ms, whatever it does. */
    private static final String[] TEN_MILLIS = {
        "--set", "latency.model=linear",
        "--set", "latency.linear.per-step=10ms",
        "--set", "latency.linear.per-token=0ms",
        "--set", "latency.linear.per-decode-seq=0ms",
        "--set", "latency.linear.per-kv-token=0ms"
    };

    @TempDir
    private Path directory;

    @Test
    void cells_areRunAsClosedLoops_andEqualRowsAreAveraged() throws IOException {
        var run = fidelity(SIMPLE + "100,20,1,1,10,7.5\n100,20,1,1,30,8.5\n50,20,1,1,14,10\n", TEN_MILLIS);

        assertThat(run.exitCode).as(run.err).isZero();
        var cells = run.json().get("cells");
        assertThat(cells).hasSize(2);
        // A lone client: 4 ms to the engine and one step, or 14 ms, against 14 of (14) and 20 of (10 + 30) / 2.
        assertThat(times(cells.get(0), "ttft")).containsExactly(14, 14, 0);
        assertThat(times(cells.get(1), "ttft")).containsExactly(20, 14, -30);
        // 10 ms for each further token against 8 of (7.5 + 8.5) / 2: 25 % too long.
        assertThat(times(cells.get(0), "tpot")).containsExactly(10, 10, 0);
        assertThat(times(cells.get(1), "tpot")).containsExactly(8, 10, 25);
        assertThat(cells.get(1).get("lines")).hasToString("[2,3]");
        // Means of 0 and -30, and of 0 and 25.
        var all = run.json().get("summary").get(0);
        assertThat(all.get("cells").asInt()).isEqualTo(2);
        assertThat(rounded(all, "mean_absolute_ttft_error_percent")).isEqualTo(15);
        assertThat(rounded(all, "mean_ttft_error_percent")).isEqualTo(-15);
        assertThat(rounded(all, "mean_absolute_tpot_error_percent")).isEqualTo(12.5);
    }

    /** 10 ms against 10, 12.5, 8, 20 and 5 are 0, -20, +25, -50 and +100 %: in the middle 25, on average 39, and 11 in sum. */
    @Test
    void errors_haveMedianMeanPercentileAndBias_byWhatCellsHaveInCommon() throws IOException {
        var run = fidelity(
                SIMPLE + "100,20,1,1,50,10\n100,30,1,1,50,12.5\n100,20,2,1,50,8\n100,30,2,1,50,20\n200,20,10,1,50,5\n",
                TEN_MILLIS);

        assertThat(run.exitCode).as(run.err).isZero();
        var summary = run.json().get("summary");
        assertThat(rounded(summary.get(0), "median_absolute_tpot_error_percent"))
                .isEqualTo(25);
        assertThat(rounded(summary.get(0), "mean_absolute_tpot_error_percent")).isEqualTo(39);
        assertThat(rounded(summary.get(0), "mean_tpot_error_percent")).isEqualTo(11);
        // Between the fourth, 50, and the fifth, 100: at rank 0.9 x 4 = 3.6 of those from 0.
        assertThat(rounded(summary.get(0), "p90_absolute_tpot_error_percent")).isEqualTo(80);
        assertThat(summary)
                .extracting(group -> group.get("by").asText() + " "
                        + group.get("group").asText() + " " + group.get("cells").asInt())
                .containsExactly(
                        "all all 5",
                        "layout TP1 5",
                        "lengths 100/20 2",
                        "lengths 100/30 2",
                        "lengths 200/20 1",
                        "concurrency 1 2",
                        "concurrency 2 2",
                        "concurrency 10 1",
                        "model and layout TP1 5");
    }

    @Test
    void bytes_areTheSameWithAnyNumberOfJobs() throws IOException {
        String rows = SIMPLE + "100,20,1,1,50,10\n100,30,4,1,50,12.5\n100,20,2,1,50,9\n200,20,3,1,50,11\n";

        var one = fidelity(rows, with("--jobs", "1", TEN_MILLIS));
        var three = fidelity(rows, with("--jobs", "3", TEN_MILLIS));

        assertThat(one.json().get("cells")).hasSize(4);
        assertThat(three.out).isEqualTo(one.out);
    }

    /** 8 requests in 50 + 19 x 10 ms are 33 per second; 16 in the same time are 67, and in 90 + 19 x 80 ms they are 10. */
    @Test
    void contradictingRows_areListedApart() throws IOException {
        String rows = SIMPLE + "100,20,8,1,50,10\n100,20,16,1,90,80\n100,20,16,1,50,10\n";

        var run = call(with("fidelity", table(rows), TEN_MILLIS));

        assertThat(run.exitCode).as(run.err).isZero();
        assertThat(run.out)
                .contains("Contradicting, in no figure:\n")
                .contains("16 / (90.00 ms + 19 x 80.00 ms) are 9.938 requests/s, but line 4")
                .doesNotContain("80.00 |");
        var json = fidelity(rows, TEN_MILLIS).json();
        assertThat(json.get("cells")).hasSize(2);
        assertThat(json.get("contradicting").get(0).get("lines")).hasToString("[3]");
        assertThat(json.get("left_out")).isEmpty();
    }

    /** A first token after 3 s, far above twice 50 ms, tells of memory that the emulated server has. */
    @Test
    void cellsThatWaitedForMemory_areInNoFigure() throws IOException {
        var run = fidelity(SIMPLE + "100,20,8,1,50,10\n100,20,16,1,3000,10\n", TEN_MILLIS);

        assertThat(run.exitCode).as(run.err).isZero();
        var cells = run.json().get("cells");
        assertThat(cells.get(0).get("short_of_kv").asBoolean()).isFalse();
        assertThat(cells.get(1).get("short_of_kv_by").asText()).isEqualTo("measurement");
        assertThat(run.json().get("summary").get(0).get("cells").asInt()).isEqualTo(1);
    }

    @Test
    void clients_areAsManyAsMeasured_withTenRequestsEach() throws IOException {
        var run = call(with(
                "fidelity",
                table(SIMPLE + "100,20,3,2,14,10\n"),
                "--csv",
                file("a.csv"),
                "--html",
                file("a.html"),
                "--compare-models",
                "linear,profile",
                TEN_MILLIS));

        assertThat(run.exitCode).as(run.err).isZero();
        assertThat(run.out).containsPattern("TP2 +\\| +100 \\| +20 \\| +3 \\| +10.00 \\| +10.00 \\| +\\+0.0 % \\|");
        assertThat(Files.readAllLines(directory.resolve("a.csv")))
                .hasSize(3)
                .anyMatch(line ->
                        line.startsWith(",,,,,auto,true,TP2,100,20,3,1,false,,linear,10.0000,10.0000,0.0000,14.0000,"))
                .anyMatch(line -> line.startsWith(",,,,,auto,true,TP2,100,20,3,1,false,,profile,10.0000,"));
        assertThat(Files.readString(directory.resolve("a.html")))
                .contains("\"models\":[\"linear\",\"profile\"]", "\"latency_model\":\"profile\"", "<cell-charts");
    }

    /** Each row lacks one thing that it needs, and is listed with it; the last one is fine. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "sglang,gpt2,h100_sxm,bf16,agg,9,9,,,1,1,1,,,,5,5,x | another engine: sglang",
                "vllm,gpt2,h100_sxm,bf16,disagg,9,9,,,1,1,1,,,,5,5,x | prefill and decode apart",
                "vllm,gpt2,h100_sxm,bf16,agg,9,9,,,1,1,1,,,source_file=/Users/a.csv,5,5,x | conditions unknown: the"
                        + " source is a file under /Users/",
                "vllm,gpt2,h100_sxm,bf16,agg,9,9,,,2,1,1,,,silicon_concurrency=3,5,5,x | batch_size is not the"
                        + " concurrency",
                "vllm,gpt2,h100_sxm,bf16,agg,9,9,,,,1,1,,,,5,5,x | concurrency unknown",
                "vllm,gpt2,h100_sxm,bf16,agg,9,9,,,1,1,1,,,,,5,x | silicon_ttft_ms is missing, must be a number above 0",
                "vllm,gpt2,h100_sxm,bf16,agg,9,,,,1,1,1,,,,5,5,x | osl is missing, must be a whole number of at least 1",
                "vllm,new/model-7b,h100_sxm,bf16,agg,9,9,,,1,1,1,,,,5,5,x | unknown model: new/model-7b",
                "vllm,gpt2,h1000_sxm,bf16,agg,9,9,,,1,1,1,,,,5,5,x | unknown GPU: h1000_sxm",
                "vllm,gpt2,h100_sxm,int8,agg,9,9,,,1,1,1,,,,5,5,x | weights in int8 are not modelled",
                "vllm,gpt2,h100_sxm,w8a8,agg,9,9,,,1,1,1,,,,5,5,x | weights in w8a8 are not modelled",
                "vllm,gpt2,h100_sxm,bf16,agg,9,9,,,1,5,1,,,,5,5,x | must divide evenly among the GPUs",
                "vllm,llama-3.1-70b,h100_sxm,bf16,agg,9,9,,,1,1,1,,,,5,5,x | does not fit on h100-sxm",
                "vllm,gpt2,h100_sxm,bf16,agg,2000,9,,,1,1,1,,,,5,5,x | requests were not answered"
            })
    void rowsThatCannotBeRun_areListedWithTheReason(String row, String reason) throws IOException {
        String good = "vllm,openai-community/gpt2,h100_sxm,bf16,agg,9.0,9.0,bfloat16,,1.0,1.0,1.0,,,,5,5,x\n";

        var run = fidelity(FULL + row + "\n" + good);

        assertThat(run.exitCode).as(run.err).isZero();
        assertThat(run.json().get("cells")).hasSize(1);
        assertThat(run.json().get("left_out")).hasSize(1);
        var leftOut = run.json().get("left_out").get(0);
        assertThat(leftOut.get("lines")).hasToString("[2]");
        assertThat(leftOut.get("reason").asText()).contains(reason.strip()).doesNotContain("--set latency");
    }

    @Test
    void cellsShortOfMemory_areRunButInNoMean() throws IOException {
        // Eight requests of up to 20 + 400 tokens in 100 blocks of 16: all are let in, and some must give way.
        var run = call(with(
                "fidelity", table(SIMPLE + "20,400,8,1,14,10\n"), "--set", "kv-cache.num-gpu-blocks=100", TEN_MILLIS));

        assertThat(run.exitCode).as(run.err).isZero();
        assertThat(run.out).startsWith("Short of KV memory, in no figure:\n").doesNotContain("Errors:");
    }

    @ParameterizedTest
    @CsvSource({"25, 31, 0", "24.9, 31, 3", "26, 29.9, 3"})
    void limits_areOfTheMeanErrors(String tpot, String ttft, int exitCode) throws IOException {
        // 10 ms against 8, and 14 against 20: 25 and 30 percent.
        String[] limits = {"--max-tpot-mape", tpot, "--max-ttft-mape", ttft};

        assertThat(fidelity(SIMPLE + "100,20,1,1,20,8\n", with("", "", TEN_MILLIS, limits)).exitCode)
                .isEqualTo(exitCode);
        assertThat(fidelity(SIMPLE + "100,,1,1,20,8\n", limits).exitCode)
                .as("nothing is within a limit")
                .isEqualTo(3);
    }

    @Test
    void quantisedCheckpoints_areTheirModel_andLlamasBringAnFp8Cache() throws IOException {
        String rows = """
                vllm,nvidia/Llama-3.1-8B-Instruct-FP8,h100_sxm,fp8,agg,64,8,fp8,fp8,2,1,1,,,,9,9,x
                vllm,Qwen/Qwen3-8B-FP8,a100_sxm,fp8,agg,64,8,fp8,,2,1,1,,,,9,9,x
                """;

        var run = fidelity(FULL + rows);

        assertThat(run.exitCode).as(run.err).isZero();
        assertThat(run.json().get("left_out")).isEmpty();
        // All; two GPUs, models; formats and a layout, lengths and a concurrency; models with their layouts.
        assertThat(run.json().get("summary")).hasSize(1 + 2 + 2 + 1 + 1 + 1 + 1 + 2);
        assertThat(run.json().get("assumed"))
                .extracting(each -> each.get("what").asText())
                .containsExactlyInAnyOrder(
                        "KV cache fp8: the checkpoints of quantised Llamas bring scales for it",
                        "KV cache auto: as in the scenario");
        assertThat(run.json().get("cells"))
                .allMatch(cell -> cell.get("kv_cache_dtype_assumed").asBoolean());
    }

    /** vLLM captures graphs of up to twice as many tokens as it runs sequences, which are as many as clients. */
    @Test
    void sourcesOfStepTimes_areListedWithTheirRows() throws IOException {
        String rows = """
                vllm,nvidia/Llama-3.1-8B-Instruct-FP8,h100_sxm,fp8,agg,64,8,fp8,fp8,4,1,1,,,,9,9,x
                vllm,nvidia/Llama-3.1-8B-Instruct-FP8,h100_sxm,fp8,agg,64,9,fp8,fp8,4,1,1,,,,9,9,x
                vllm,nvidia/Llama-3.1-8B-Instruct-FP8,h100_sxm,fp8,agg,64,8,fp8,fp8,2,1,1,,,,9,9,x
                """;

        var json = fidelity(FULL + rows);
        var text = call("fidelity", table(FULL + rows));

        assertThat(json.json().get("sources"))
                .extracting(each ->
                        each.get("lines") + " " + each.get("what").asText().replaceFirst(",.*", ""))
                .contains(
                        "[2] vLLM: CUDA graphs of up to 8 tokens",
                        "[3] vLLM: CUDA graphs of up to 8 tokens",
                        "[4] vLLM: CUDA graphs of up to 4 tokens");
        assertThat(text.out)
                .contains("Times of steps:\n")
                .containsPattern("\\| +2 \\| vLLM: CUDA graphs of up to 8 tokens.* \\| 2, 3 +\\|")
                .containsPattern("\\| +1 \\| vLLM: CUDA graphs of up to 4 tokens.* \\| 4 +\\|");
    }

    @Test
    void kernelTables_areOfTheNearestVersion_whichIsNamed() throws IOException {
        String tables = "latency.profiled.tables=" + TestData.require("aiconfigurator");
        String rows = FULL.replace("of_no_matter", "backend_version") + """
                vllm,Qwen/Qwen3-8B,h200_sxm,bf16,agg,64,8,bf16,bf16,4,1,1,,,,9,9,0.13.0
                vllm,Qwen/Qwen3-8B,h200_sxm,bf16,agg,64,8,bf16,bf16,4,1,1,,,,9,9,0.24.0
                """;

        var run = fidelity(rows, "--set", "latency.model=profiled", "--set", tables);

        assertThat(run.exitCode).as(run.err).isZero();
        assertThat(run.json().get("sources"))
                .extracting(each ->
                        each.get("lines") + " " + each.get("what").asText().replaceFirst(", data/.*", ""))
                .contains(
                        "[2] latency.profiled: linear layers in bfloat16: vLLM 0.14.0",
                        "[3] latency.profiled: linear layers in bfloat16: vLLM 0.24.0");
    }

    @Test
    void badTables_areOneClearLine() throws IOException {
        String table = table("isl,concurrency\n1,1\n");

        assertThat(call("fidelity", table).err)
                .isEqualTo(table + ":1: no column osl; the header has isl, concurrency\n");
        assertThat(call("fidelity", table(SIMPLE)).err)
                .isEqualTo(table + ": has no rows; a header and a row for each measured cell are needed\n");
        assertThat(call("fidelity", "nowhere.csv").err).startsWith("nowhere.csv: ");
        assertThat(call("fidelity", table, "--jobs", "0").err).isEqualTo("--jobs must be at least 1\n");
    }

    private static double[] times(JsonNode cell, String metric) {
        var run = cell.get("runs").get(0);
        return new double[] {
            cell.get("measured_mean_" + metric + "_ms").asDouble(),
            run.get("mean_" + metric + "_ms").asDouble(),
            rounded(run, metric + "_error_percent")
        };
    }

    private static double rounded(JsonNode json, String key) {
        return Math.round(json.get(key).asDouble() * 1e6) / 1e6;
    }

    private CommandLineFixture fidelity(String table, String... options) throws IOException {
        return call(with("fidelity", table(table), with("--json", "-", options)));
    }

    /** Joins words and lists of words; empty ones are left out. */
    private static String[] with(Object... parts) {
        var args = new ArrayList<String>();
        for (var part : parts) {
            args.addAll(part instanceof String[] words ? Arrays.asList(words) : List.of(part.toString()));
        }
        args.removeIf(String::isEmpty);
        return args.toArray(String[]::new);
    }

    private String file(String name) {
        return directory.resolve(name).toString();
    }

    private String table(String text) throws IOException {
        return Files.writeString(directory.resolve("cells.csv"), text).toString();
    }
}
