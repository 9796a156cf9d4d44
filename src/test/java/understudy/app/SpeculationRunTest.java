package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static understudy.app.CommandLineFixture.call;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code conf/speculation.conf}: 3 drafts, of which verifications bring 2.25 tokens in the mean. */
final class SpeculationRunTest {
    private static final String SCENARIO = "conf/speculation.conf";

    @Test
    void report_hasWhatBecameOfDrafts() throws IOException {
        var json = call("run", SCENARIO, "--json", "-").json();
        var drafts = json.get("spec_decode");

        assertThat(drafts.get("mean_acceptance_length").asDouble()).isCloseTo(2.25, within(0.0225));
        long numDrafts = drafts.get("num_drafts").asLong();
        long numAccepted = drafts.get("num_accepted_tokens").asLong();
        assertThat(drafts.get("num_draft_tokens").asLong()).isEqualTo(3 * numDrafts);
        assertThat(drafts.get("acceptance_rate").asDouble()).isEqualTo(numAccepted / (3.0 * numDrafts));
        assertThat(drafts.get("num_accepted_tokens_per_pos")).hasSize(3);
        assertThat(drafts.get("num_accepted_tokens_per_pos").get(2).asLong()).isZero();
    }

    @Test
    void drafts_takeTimeAndSaveMore() throws IOException {
        var with = call("run", SCENARIO, "--json", "-").json();
        var free = call("run", SCENARIO, "--set", "engine.speculative.draft-time-per-token=0ms", "--json", "-")
                .json();
        var without = call("run", SCENARIO, "--set", "engine.speculative.method=none", "--json", "-")
                .json();

        // 3 drafts of 0.4 ms in each step.
        double draftsMillis =
                with.get("median_itl_ms").asDouble() - free.get("median_itl_ms").asDouble();
        assertThat(draftsMillis).isCloseTo(1.2, within(0.1));
        assertThat(with.get("mean_tpot_ms").asDouble())
                .isLessThan(without.get("mean_tpot_ms").asDouble() / 1.5);
        assertThat(without.has("spec_decode")).isFalse();
    }

    @Test
    void detailedGaps_areThoseBetweenPieces() throws IOException {
        var json = call(
                        "run",
                        SCENARIO,
                        "--set",
                        "report.save-detailed=true",
                        "--set",
                        "workload.requests=20",
                        "--json",
                        "-")
                .json();

        long numGaps = 0;
        for (var gaps : json.get("itls")) {
            assertThat(gaps).allSatisfy(gap -> assertThat(gap.asDouble()).isPositive());
            numGaps += gaps.size();
        }
        assertThat(numGaps).isEqualTo(json.get("num_itl").asLong());
    }

    /**
     * Prompts of 8 tokens are 2 blocks each, and 17 of them fill all 34: their KV has come, and none has a block for its
     * lookahead. vLLM lets them wait for each other for ever.
     */
    @Test
    void requestsWhoseKvHasComeAndFillsTheCache_areAnswered(@TempDir Path directory) throws IOException {
        var file = Files.writeString(directory.resolve("full.conf"), """
                cluster.groups = [
                  { name = prefill, replicas = 2, role = prefill }, { name = both, replicas = 1, role = both }
                ]
                engine { max-model-len = 134, max-num-batched-tokens = 50, max-num-seqs = 3 }
                engine.speculative { method = dflash, num-speculative-tokens = 2, synthetic-acceptance-length = 1.6 }
                kv-cache { block-size = 4, num-gpu-blocks = 35, transfer { bandwidth = 0.001 } }
                latency { model = roofline, llm = llama-3.1-8b, gpu = l4 }
                router.disaggregation.uncached-tokens = 1
                workload {
                  requests = 20
                  arrivals.request-rate = inf
                  lengths { prompt { kind = fixed, mean = 8 }, output { kind = fixed, mean = 11 } }
                }
                """);

        var json = call("run", file.toString(), "--json", "-").json();

        assertThat(json.get("completed").asInt()).isEqualTo(20);
        assertThat(json.get("total_output_tokens").asInt()).isEqualTo(20 * 11);
    }

    @Test
    void text_hasThemToo() {
        var run = call("run", SCENARIO, "--set", "workload.requests=50");

        assertThat(run.out)
                .contains("Speculative Decoding", "Mean acceptance length:", "Acceptance rate at position 2");
    }

    /** A request that got in without lookahead is short of blocks later; found by fuzz. */
    @Test
    void requestThatGotInWithoutLookahead_asksForItLater(@TempDir Path directory) throws IOException {
        assertAllAnswered(directory, """
                        cluster.groups = [{ name = prefill, replicas = 2, role = prefill }, { name = both, replicas = 1, role = both }]
                        engine.long-prefill-token-threshold = 20
                        engine.max-model-len = 44
                        engine.scheduling-policy = lpm
                        engine.speculative.method = eagle
                        engine.speculative.synthetic-acceptance-length = 4.0
                        engine.watermark = 0.3
                        kv-cache.block-size = 2
                        kv-cache.num-gpu-blocks = 33
                        kv-cache.tiers.host.bandwidth = 0.001
                        kv-cache.tiers.host.tokens = 92
                        kv-cache.transfer.lease-duration = 1ms
                        kv-cache.transfer.lease-heartbeats = false
                        kv-cache.transfer.load-failure-policy = recompute
                        router.disaggregation.uncached-tokens = 0
                        seed = 727168
                        workload.arrivals.request-rate = 2
                        workload.ignore-eos = false
                        workload.lengths.output.kind = exponential
                        workload.lengths.output.mean = 1
                        workload.lengths.prompt.max = 21
                        workload.lengths.prompt.mean = 21
                        workload.lengths.prompt.stddev = 12
                        workload.requests = 24
                        workload.sessions.think-time.mean = 1ms
                        workload.sessions.turns.mean = 3
                        """);
    }

    /** The first of two requests that hold blocks fits without lookahead, once nobody gets in with it; found by fuzz. */
    @Test
    void headThatFitsWithoutLookahead_getsInAtLast(@TempDir Path directory) throws IOException {
        assertAllAnswered(directory, """
                        cluster.replicas = 4
                        engine.scheduler-reserve-full-isl = false
                        engine.speculative.method = eagle
                        engine.speculative.synthetic-acceptance-length = 2.8
                        kv-cache.block-size = 4
                        kv-cache.num-gpu-blocks = 10
                        kv-cache.tiers.host.tokens = 105
                        latency.model = linear
                        latency.linear.per-step = 100ms
                        router.policy = cache-aware
                        seed = 206222
                        workload.lengths.output.kind = fixed
                        workload.lengths.output.mean = 4
                        workload.lengths.prompt.mean = 3
                        workload.lengths.prompt.stddev = 0
                        workload.requests = 77
                        workload.sessions.think-time.mean = 1ms
                        workload.sessions.turns.mean = 6
                        """);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "method=eagle4 | engine.speculative.method is \"eagle4\"",
                "method=ngram | whose drafts come too late for engine.async-scheduling = true",
                "num-speculative-tokens=0 | engine.speculative.num-speculative-tokens is \"0\"",
                "synthetic-acceptance-length=none | must be a number from 1.0 to 4.0",
                "synthetic-acceptance-length=4.1 | must be a number from 1.0 to 4.0",
                "synthetic-acceptance-rates=[0.5] | say the same; give one of them",
                "proposal-rate=2 | must be a number from 0.0 to 1.0"
            })
    void settingThatCannotBe_isNamed(String setting, String problem) {
        var run = call("run", SCENARIO, "--set", "engine.speculative." + setting);

        assertThat(run.exitCode).isEqualTo(2);
        assertThat(run.err).contains(problem);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "[0.5] | of which there must be one for each of 3 drafts",
                "[0.5, 0.6, 0.1] | must not rise",
                "[0.5, x, 0.1] | must be from 0 to 1"
            })
    void ratesThatCannotBe_areNamed(String rates, String problem) {
        var run = call(
                "run",
                SCENARIO,
                "--set",
                "engine.speculative.synthetic-acceptance-length=none",
                "--set",
                "engine.speculative.synthetic-acceptance-rates=" + rates);

        assertThat(run.exitCode).isEqualTo(2);
        assertThat(run.err).contains(problem);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "kv-cache.sessions=detailed | kv-cache.sessions",
                "engine.kind=roseinfer | engine.speculative.method",
                "engine.enable-chunked-prefill=false | it must be at least"
            })
    void settingThatSpeculationExcludes_isNamed(String setting, String problem) {
        // The longest sequence has 131072 tokens, and with 3 drafts a request takes 3 more of a step.
        var run = call(
                "run",
                SCENARIO,
                "--set",
                setting,
                "--set",
                "engine.speculative.method=dflash",
                "--set",
                "engine.max-num-seqs=8");

        assertThat(run.exitCode).isEqualTo(2);
        assertThat(run.err).contains(problem);
    }

    private static void assertAllAnswered(Path directory, String scenario) throws IOException {
        var file = Files.writeString(directory.resolve("tight.conf"), scenario);

        var run = call("run", file.toString(), "--json", "-");

        assertThat(run.exitCode).as(run.err).isZero();
        assertThat(run.json().get("unfinished").asInt()).isZero();
    }
}
