package understudy.engine.sglang;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import understudy.figure.OwnFigure;
import understudy.host.Emulation;
import understudy.report.RunRecord;
import understudy.report.RunReport;
import understudy.report.RunResult;
import understudy.report.ServiceLevels;
import understudy.report.TimelineReport;
import understudy.scenario.Scenario;
import understudy.scenario.ScenarioFile;
import understudy.settings.Section;

/** Figures of a report that only SGLang has. A step takes 10 ms, and a request 4 ms to the queue. */
final class SglangFiguresTest {
    private static final String SGLANG = """
        engine {
          kind = sglang
          max-model-len = 1000
          sglang { max-total-tokens = 30, chunked-prefill-size = 8, disable-overlap-schedule = true }
        }
        """;

    private static final String STEPS = """
        latency.model = linear
        latency.linear { per-step = 10ms, per-token = 0ns, per-decode-seq = 0ns, per-kv-token = 0ns }
        """;

    /** Prompts of 20 tokens in chunks of 8, 8 and 4, and of 5 tokens in one piece; then a decode each. */
    private static final String TWO_REQUESTS = """
        0.0,20,2
        1.0,5,2
        """;

    @TempDir
    private Path directory;

    private RunRecord run(String settings, String requests) throws Exception {
        var trace = directory.resolve("trace.csv");
        Files.writeString(trace, "arrival_s,input_toks,output_toks\n" + requests);
        var scenario = Scenario.read(new ScenarioFile(Map.of())
                .load(Section.of(settings + STEPS + "workload { kind = csv, trace = \"" + trace + "\" }")));
        try (var emulation = new Emulation()) {
            emulation.start(scenario.clusterSpec(scenario.workloadSource(), true), Double.POSITIVE_INFINITY);
            return emulation.await(TimeUnit.SECONDS.toMillis(60)).run();
        }
    }

    /** Returns the value of one of SGLang's figures. */
    static double figure(String key, RunRecord run) {
        return RunReport.of(run).own().stream()
                .filter(own -> own.family().equals("sglang"))
                .flatMap(own -> own.figures().stream())
                .filter(figure -> figure.key().equals(key))
                .findFirst()
                .orElseThrow()
                .value();
    }

    @Test
    void chunks_areCountedWithTheLastPiece() throws Exception {
        var run = run(SGLANG, TWO_REQUESTS);

        // Three of six steps have a chunk, and 20 of 25 tokens came in chunks.
        assertThat(figure("chunk_steps", run)).isEqualTo(3 / 6.0);
        assertThat(figure("chunk_tokens", run)).isEqualTo(20 / 25.0);
        // The ratio is 0.7, after a decode less by (0.7 - 0.7 * 0.14) / 600, and anew 0.7 when there is nothing to do.
        assertThat(figure("mean_new_token_ratio", run)).isCloseTo(0.7 - 2 * (0.7 * 0.86 / 600) / 6, within(1e-12));
        assertThat(figure("retractions", run)).isZero();
    }

    /** Each chunk, and what is decoded, is a node; of an answer of 2 tokens the KV of the first is computed. */
    @Test
    void tree_isMeasuredWhereItIsLargest() throws Exception {
        var run = run(SGLANG, TWO_REQUESTS);

        assertThat(figure("largest_tree_nodes", run)).isEqualTo(4 + 2);
        assertThat(figure("largest_tree_tokens", run)).isEqualTo(21 + 6);
        assertThat(figure("evicted_tokens", run)).isZero();
    }

    /**
     * Of 30 tokens 3 are free when another prompt of 20 comes. Its first chunk of 8 takes the place of the nodes with 1, 4 and 8
     * tokens, so that 8 are left for the second, with which the tree fills the pool; the third takes the place of the last node of the
     * first request.
     */
    @Test
    void evictedTokens_areThoseOfWholeNodes() throws Exception {
        var run = run(SGLANG, TWO_REQUESTS + "2.0,20,2\n");

        assertThat(figure("evicted_tokens", run)).isEqualTo(13 + 8);
        assertThat(figure("largest_tree_tokens", run)).isEqualTo(30);
    }

    /**
     * A request of 6 tokens that may have 12 more holds 7 of 30 tokens after its prefill, and a fifth of the other 11 is
     * reserved: so 20.8 are left to another one that wants 6 + 12 + 1. Together they need 2 * (6 + 11), and so one gives way
     * until the other one has ended.
     */
    @Test
    void retractions_areCounted() throws Exception {
        var run = run(
                SGLANG + "engine.sglang { init-new-token-ratio = 0.2, chunked-prefill-size = -1 }\n",
                "0.000,6,12\n0.005,6,12\n");

        assertThat(figure("retractions", run)).isEqualTo(1);
    }

    /** The figures of two replicas are summed, and those of a third engine have none. */
    @Test
    void mixedFleet_hasTheSumOverSglangsReplicas() throws Exception {
        var run = run(
                "engine.max-model-len = 1000, router.policy = round-robin, cluster.groups = [{ name = vllm, replicas = 1 },"
                        + " { name = sglang, replicas = 2, engine { kind = sglang, sglang {"
                        + " max-total-tokens = 30, chunked-prefill-size = 8, disable-overlap-schedule = true } } }]\n",
                "0.0,20,2\n0.0,20,2\n0.0,5,2\n");

        // The second request has 3 chunks and a decode, the third one prefill and a decode.
        assertThat(figure("chunk_steps", run)).isEqualTo(3 / 6.0);
        assertThat(figure("chunk_tokens", run)).isEqualTo(20 / 25.0);
        assertThat(figure("largest_tree_tokens", run)).isEqualTo(21);
    }

    /** What was counted before a crash counts on; the tree begins anew, so that there are never 21 + 6 tokens. */
    @Test
    void crash_leavesCounts() throws Exception {
        var run = run(
                SGLANG
                        + "faults { startup-time = 0s, plan = [{ at = 500ms, do = crash, replica = 0, for = 100ms }] }\n",
                TWO_REQUESTS);

        assertThat(figure("chunk_tokens", run)).isEqualTo(20 / 25.0);
        assertThat(figure("largest_tree_tokens", run)).isEqualTo(21);
    }

    @Test
    void report_hasThemUnderTheFamilysName() throws Exception {
        var report = RunReport.of(run(SGLANG, TWO_REQUESTS));
        var result = RunResult.withoutDetails(report);

        var own = result.tree().get("sglang");
        assertThat(own.fieldNames())
                .toIterable()
                .containsExactly(
                        "retractions",
                        "priority_preemptions",
                        "lost_by_preemption",
                        "mean_new_token_ratio",
                        "chunk_steps",
                        "chunk_tokens",
                        "largest_tree_nodes",
                        "largest_tree_tokens",
                        "evicted_tokens");
        assertThat(own.get("chunk_steps").asDouble()).isEqualTo(0.5);
        assertThat(result.text()).contains("Engine sglang").containsPattern("Steps with a chunk \\(%\\): +50\\.00");
    }

    @Test
    void otherEngines_haveNone() throws Exception {
        var result = RunResult.withoutDetails(RunReport.of(run("", TWO_REQUESTS)));

        assertThat(result.tree().has("sglang")).isFalse();
        assertThat(result.text()).doesNotContain("sglang");
    }

    /** Of each second: the mean ratio over its steps, and the largest tree of a step; the ratio is as above. */
    @Test
    void timeline_hasRatioAndTree() throws Exception {
        var report = RunReport.of(run(SGLANG, TWO_REQUESTS), ServiceLevels.NONE, 1);

        var first = report.timeline().intervals().get(0).own().get(0);
        assertThat(first.figures())
                .extracting(OwnFigure::key)
                .containsExactly("new_token_ratio", "tree_nodes", "tree_tokens");
        double decay = 0.7 * 0.86 / 600;
        assertThat(first.figures().get(0).value()).isCloseTo(0.7 - decay / 4, within(1e-12));
        // When the decode is planned the tree has the prompt.
        assertThat(first.figures().get(2).value()).isEqualTo(20);
        var second = report.timeline().intervals().get(1).own().get(0);
        assertThat(second.figures().get(2).value()).isEqualTo(21 + 5);
        assertThat(TimelineReport.text(report.timeline())).contains("New-token ratio", "0.6997", "Tree nodes");
    }
}
