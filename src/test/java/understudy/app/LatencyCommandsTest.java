package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.app.CommandLineFixture.call;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.TestData;

/** What the command line shows of latency models. */
final class LatencyCommandsTest {
    private static final String[] H100 = {
        "--set", "latency.model=roofline", "--set", "latency.llm=llama-3.1-8b", "--set", "latency.gpu=h100"
    };

    @TempDir
    private Path directory;

    @Test
    void explainStep_printsTheParts() {
        var run = call(with("run", "conf/demo.conf", "--explain-step", "32x1@999,1x512"));

        assertThat(run.exitCode).as(run.err).isZero();
        assertThat(run.out)
                .startsWith("A step of 32 decodes (32000 tokens attended to) and 1 prefill chunks (512 tokens): ")
                .contains("linear", "attention", "all-reduce", "head", "host")
                // 33 times 10 us.
                .contains("330.0");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "32", "1x0", "x1", "9999999x1", "1x1@-1"})
    void explainStep_namesABadBatch(String batch) {
        var run = call(with("run", "conf/demo.conf", "--explain-step", batch));

        assertThat(run.exitCode).isEqualTo(2);
        assertThat(run.err.lines()).hasSize(1);
        assertThat(run.err).startsWith("--explain-step: \"" + batch + "\" must be SEQUENCESxTOKENS[@CONTEXT]");
    }

    @Test
    void dryRun_saysHowBlocksCameAbout() {
        var run = call(with("run", "conf/demo.conf", "--dry-run"));

        // 0.92 * 79.2 - 8.03e9 * 2 / 2^30 - 1.45 GiB in blocks of 16 * 128 KiB.
        assertThat(run.out)
                .contains(
                        "# kv-cache.num-gpu-blocks 28905, 462464 tokens, on h100-sxm: 72.86 GiB usable - 14.96 GiB weights"
                                + " - 1.45 GiB reserve = 56.46 GiB for blocks of 2048 KiB")
                .contains("# latency.gpu h100-sxm: fitted, but assumed: mixed-attention");
    }

    @Test
    void dryRun_namesMeasuredTables() {
        var run = call(tables("minimax-m2.5", "enable-expert-parallel=true", "--dry-run"));

        assertThat(run.out)
                .contains(
                        "# latency.profiled: linear layers in fp8_block: vLLM 0.19.0, data/h200_sxm/gemm/vllm/0.19.0/")
                .contains("# latency.profiled: 8 of 256 experts of 1536 in FP8_BLOCK, TP 1, EP 8, flashinfer_cutlass:"
                        + " vLLM 0.24.0, ")
                .contains(
                        "# latency.profiled: element-wise kernels 2.0 us each, host 10.0 us per sequence: empirical\n");
    }

    @Test
    void dryRun_warnsOfWhatIsNotMeasured() {
        var run = call(tables("minimax-m2.5", "host-per-seq=0us", "--dry-run"));

        assertThat(run.out)
                .contains("# warning: latency.profiled: no times of 8 of 256 experts of 1536 in FP8_BLOCK, TP 8, EP 1;"
                        + " they come from the roofline\n")
                .contains("host 0.0 us per sequence: empirical\n");
    }

    @ParameterizedTest
    @CsvSource({
        "gpu=l40s, 'has no tables of this GPU, but of [a100_sxm, b200_sxm, '",
        "profiled.versions.moe=0.1.0, 'version 0.1.0 of moe is none of [0.24.0, 0.19.0, 0.18.0, 0.14.0] of h200_sxm'"
    })
    void unusableTables_areNamedWithTheirSetting(String setting, String problem) {
        var run = call(tables("gpt-oss-120b", setting, "--log-level=warn"));

        assertThat(run.exitCode).isEqualTo(2);
        assertThat(run.err.lines()).hasSize(1);
        assertThat(run.err).contains("latency.profiled.tables is \"", ", but ", problem);
    }

    /** Runs on 8 H200 with measured kernels; the setting counts last. */
    private static String[] tables(String llm, String setting, String flag) {
        return new String[] {
            "run",
            "conf/demo.conf",
            flag,
            "--set=latency.model=profiled",
            "--set=latency.profiled.tables=" + TestData.require("aiconfigurator"),
            "--set=latency.llm=" + llm,
            "--set=latency.gpu=h200",
            "--set=latency.tensor-parallel-size=8",
            "--set=latency." + setting
        };
    }

    @Test
    void linearTermsThatNobodyReads_areNamed() {
        String[] run = {"run", "conf/demo.conf", "--dry-run", "--set=latency.linear.per-step=1ms"};

        assertThat(call(run).out)
                .contains("latency.linear is set, but latency.model is roofline; set latency.model = linear");
        run[3] = "--set=latency.model=linear";
        assertThat(call(run).out).doesNotContain("latency.linear is set");
    }

    @Test
    void jitter_changesTimesAndNotTheirMean() throws IOException {
        var exact = call(with("run", "conf/demo.conf", "--json", "-", "--set", "workload.requests=500"));
        var noisy = call(with(
                "run",
                "conf/demo.conf",
                "--json",
                "-",
                "--set",
                "workload.requests=500",
                "--set",
                "latency.jitter=0.1"));
        var again = call(with(
                "run",
                "conf/demo.conf",
                "--json",
                "-",
                "--set",
                "workload.requests=500",
                "--set",
                "latency.jitter=0.1"));

        assertThat(noisy.jsonWithoutHost()).isEqualTo(again.jsonWithoutHost()).isNotEqualTo(exact.jsonWithoutHost());
        double itl = exact.json().get("mean_itl_ms").asDouble();
        assertThat(noisy.json().get("mean_itl_ms").asDouble()).isBetween(itl * 0.98, itl * 1.02);
    }

    @Test
    void measuredTimesInATrace_areCompared() throws IOException {
        var trace = Files.writeString(directory.resolve("t.csv"), """
                arrival_s,input_toks,output_toks,first_token_s,last_token_s
                0,100,11,0.5,1.5
                1,100,11,1.75,3.75
                """);

        var run = call(with("run", "conf/demo.conf", "--set", "workload.kind=csv", "--set", "workload.trace=" + trace));

        // TTFT 500 and 750 ms; 1 s and 2 s for ten tokens; E2E 1500 and 2750 ms; the last token after 3.75 s.
        assertThat(run.out)
                .containsPattern("Mean TTFT \\(ms\\) +\\| +625.00 \\|")
                .containsPattern("Mean TPOT \\(ms\\) +\\| +150.00 \\|")
                .containsPattern("Mean E2EL \\(ms\\) +\\| +2125.00 \\|")
                .containsPattern("Duration \\(s\\) +\\| +3.75 \\|");
    }

    @Test
    void kernelTables_areNeededAndMustFitTheModel() throws IOException {
        String[] profiled = {"--set", "latency.model=profiled"};
        assertThat(call(with("run", "conf/demo.conf", profiled)).err)
                .startsWith("latency.profiled.tables is \"\", but this latency model needs files");
        String name = tables();

        var dense = call(with("run", "conf/demo.conf", tablesAt(name)));
        var moe = call(with(
                "run",
                "conf/demo.conf",
                tablesAt(name, "--set", "latency.llm=mixtral-8x7b", "--set", "latency.tensor-parallel-size=2")));

        assertThat(dense.exitCode).isZero();
        assertThat(dense.err.lines())
                .containsExactly(
                        "latency.profiled: steps of up to 8192 tokens, measured up to 64; beyond, times are extrapolated",
                        "latency.profiled: steps of up to 1024 sequences, measured up to 8; beyond, times are extrapolated",
                        "latency.profiled: sequences of up to 131072 tokens, measured up to 512; beyond, times are extrapolated");
        assertThat(moe.exitCode).isEqualTo(2);
        assertThat(moe.err).contains("latency.profiled.tables has times of no experts, and the model has some");
    }

    private static String[] tablesAt(String name, String... further) {
        String[] tables = {"--set", "latency.model=profiled", "--set", "latency.profiled.tables=" + name + "_dense.csv"
        };
        return Stream.concat(Arrays.stream(tables), Arrays.stream(further)).toArray(String[]::new);
    }

    private String tables() throws IOException {
        String name = directory.resolve("k").toString();
        Files.writeString(Path.of(name + "_dense.csv"), "layer,tokens,time_us\nqkv_proj,1,5\nqkv_proj,64,9\n");
        Files.writeString(Path.of(name + "_per_sequence.csv"), "layer,sequences,time_us\nlm_head,1,5\nlm_head,8,9\n");
        Files.writeString(
                Path.of(name + "_attention.csv"),
                "prefill_chunk,kv_prefill,n_decode,kv_decode,time_us\n0,0,1,512,9\n16,0,0,0,5\n16,0,1,512,12\n");
        return name;
    }

    private static String[] with(String command, String scenario, String... args) {
        return Stream.of(new String[] {command, scenario}, H100, args)
                .flatMap(Arrays::stream)
                .toArray(String[]::new);
    }
}
