package understudy.engine.sglang;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.cluster.RequestEvent;
import understudy.faults.Fault;
import understudy.fuzz.Fuzzer;
import understudy.fuzz.MemoryCheck;
import understudy.fuzz.RunCheck;
import understudy.host.Emulation;
import understudy.kvcache.KvOutOfMemoryException;
import understudy.report.Invariants;
import understudy.report.Outcome;
import understudy.scenario.Scenario;
import understudy.scenario.ScenarioFile;
import understudy.settings.Section;
import understudy.testkit.EmulatedCluster;

/** SGLang's engine behind the actors. A step takes 10 ms, and a request 4 ms to the queue. */
final class SglangClusterTest {
    private static final long MILLI = 1_000_000;
    private static final String SETTINGS = """
        engine.kind = sglang
        latency.model = linear
        latency.linear { per-step = 10ms, per-token = 0ns, per-decode-seq = 0ns, per-kv-token = 0ns }
        """;

    /** What comes during the first prefill is prefilled next, and the decode waits for it. */
    @Test
    void prefill_goesBeforeDecode() {
        try (var cluster = EmulatedCluster.startPaused(SETTINGS + "engine.sglang.disable-overlap-schedule = true")) {
            var first = cluster.submit(100, 3);
            cluster.advance(Duration.ofMillis(5));
            var second = cluster.submit(100, 2);
            cluster.advance(Duration.ofSeconds(1));

            // The first's prefill ends at 14 ms, the second's at 24 ms; both decode to 34 ms, the first alone to 44 ms.
            assertThat(first.tokenNanos()).containsExactly(14 * MILLI, 34 * MILLI, 44 * MILLI);
            assertThat(second.tokenNanos()).containsExactly(24 * MILLI, 34 * MILLI);
            cluster.check().hasCompleted(2);
        }
    }

    /**
     * The second request needs 300 + 1 + 1 tokens, and finds them: the first, which wants 300 more, counts with 7 % of them.
     * But each of its 100 chunks of 3 tokens takes a token of the first along, and 300 + 100 + 4 are more than there are.
     */
    @Test
    void mixedBatches_runOutOfMemory() {
        String mixed = """
            engine.max-model-len = 390
            engine.sglang { max-total-tokens = 400, chunked-prefill-size = 4, enable-mixed-chunk = true
              schedule-conservativeness = 0.1 }
            """;

        assertThatThrownBy(() -> {
                    try (var cluster = EmulatedCluster.startPaused(SETTINGS + mixed)) {
                        cluster.submit(4, 300);
                        cluster.advance(Duration.ofMillis(30));
                        cluster.submit(300, 1);
                        cluster.advance(Duration.ofSeconds(2));
                    }
                })
                .rootCause()
                .isInstanceOf(KvOutOfMemoryException.class)
                .hasMessageStartingWith(
                        "the engine of replica 0 has died: Out of memory. Try to lower your batch size.");
    }

    /** A request that has ended is still in the batch that was planned before its last token was known. */
    @Test
    void overlap_runsABatchMoreThanThereAreTokens() {
        try (var cluster = EmulatedCluster.startPaused(SETTINGS)) {
            var request = cluster.submit(100, 2);
            cluster.advance(Duration.ofMillis(25));

            // Tokens at 14 and 24 ms; the third batch, from 24 to 34 ms, has the request in vain, and the next waits
            // for it.
            assertThat(request.tokenNanos()).containsExactly(14 * MILLI, 24 * MILLI);
            var late = cluster.submit(100, 1);
            cluster.advance(Duration.ofSeconds(1));
            assertThat(late.tokenNanos()).containsExactly((34 + 10) * MILLI);
            cluster.check().hasCompleted(2);
        }
    }

    /**
     * A prompt of 100 in chunks of 50, with a turn between them in which nothing runs and which takes no time: they end at 14 and
     * 24 ms. The prefill of the second request waits for the decode that follows, until 34 ms.
     */
    @Test
    void interval_putsOffPrefillsNotTheClock() {
        String interval = "engine.sglang { prefill-decode-interval = 1, chunked-prefill-size = 50,"
                + " disable-overlap-schedule = true }";
        try (var cluster = EmulatedCluster.startPaused(SETTINGS + interval)) {
            var first = cluster.submit(100, 2);
            cluster.advance(Duration.ofMillis(15));
            var second = cluster.submit(50, 1);
            cluster.advance(Duration.ofSeconds(1));

            assertThat(first.tokenNanos()).containsExactly(24 * MILLI, 34 * MILLI);
            assertThat(second.tokenNanos()).containsExactly(44 * MILLI);
            cluster.check().hasCompleted(2);
        }
    }

    /**
     * Two ranks of DP attention with half of 100 tokens each. They step together: a step takes 10 ms, and another 0.1 ms for each
     * token, 15 ms for the 50 of the first rank's chunks. The other rank's decodes last as long; without DP attention they take
     * 10.1 ms.
     */
    @Test
    void ranks_shareTheChunkAndStepTogether() {
        String ranks = """
                engine.sglang { chunked-prefill-size = 100, disable-overlap-schedule = true }
                cluster.replicas = 2, router.policy = round-robin, latency.linear.per-token = 0.1ms
                latency { llm = "", data-parallel-size = 2 }
                """;
        try (var cluster = EmulatedCluster.startPaused(SETTINGS + ranks)) {
            var prompt = cluster.submit(100, 1);
            var decodes = cluster.submit(10, 2);
            cluster.advance(Duration.ofSeconds(1));

            assertThat(prompt.tokenNanos()).containsExactly((4 + 2 * 15) * MILLI);
            assertThat(decodes.tokenNanos()).containsExactly((4 + 15) * MILLI, (4 + 2 * 15) * MILLI);
            cluster.check().hasCompleted(2);
        }
    }

    private static final String TWO_RANKS = """
        cluster.replicas = 2, router.policy = round-robin, latency { llm = "", data-parallel-size = 2 }
        """;

    /**
     * The prompts of both ranks come to the queues at 4 and 5 ms; the first is computed until 14 ms, and the second one's rank
     * leaves out the next turn as the first one's does: a decode of the first until 24 ms.
     */
    @Test
    void interval_beginsWithThePrefillOfAnotherRank() {
        String interval = "engine.sglang { prefill-decode-interval = 1, disable-overlap-schedule = true }";
        try (var cluster = EmulatedCluster.startPaused(SETTINGS + TWO_RANKS + interval)) {
            var first = cluster.submit(10, 3);
            cluster.advance(Duration.ofMillis(1));
            var second = cluster.submit(10, 2);
            cluster.advance(Duration.ofSeconds(1));

            assertThat(first.tokenNanos()).containsExactly(14 * MILLI, 24 * MILLI, 34 * MILLI);
            assertThat(second.tokenNanos()).containsExactly(34 * MILLI, 44 * MILLI);
            cluster.check().hasCompleted(2);
        }
    }

    /**
     * The first request decodes from 14 ms on, and what it runs at 24 ms is planned at 14 ms. The second rank's, in its queue at
     * 19 ms, is put off at 24 and at 34 ms, and let pass at 44 ms, into the step that begins at 54 ms. A third one, in the first
     * rank's queue at 39 ms, makes both able at 44 ms.
     */
    @ParameterizedTest
    @CsvSource({"3, false, 64", "2, false, 54", "9, true, 64"})
    void delayer_waitsForTheOtherRank(int maxPasses, boolean hasThird, long millis) {
        String delayer =
                "engine.sglang { enable-prefill-delayer = true, prefill-delayer-max-delay-passes = " + maxPasses;
        try (var cluster = EmulatedCluster.startPaused(SETTINGS + TWO_RANKS + delayer + "}")) {
            // It has an idle rank to wait for, whose turns take no time.
            var first = cluster.submit(10, 20);
            cluster.advance(Duration.ofMillis(15));
            var second = cluster.submit(10, 2);
            cluster.advance(Duration.ofMillis(20));
            if (hasThird) {
                cluster.submit(10, 2);
            }
            cluster.advance(Duration.ofSeconds(1));

            assertThat(first.tokenNanos()).startsWith(14 * MILLI, 24 * MILLI, 34 * MILLI, 44 * MILLI, 54 * MILLI);
            assertThat(second.tokenNanos().get(0)).isEqualTo(millis * MILLI);
            cluster.check().hasCompleted(hasThird ? 3 : 2);
        }
    }

    /**
     * With 3 drafts that are all accepted a decode brings 4 tokens. The prefill gives 1 at 14 ms, the decodes 4 each at 24 and at
     * 34 ms: of the last, 2 are behind the end of an answer of 7.
     */
    @Test
    void drafts_bringSeveralTokensAStep() {
        String eagle = "engine.sglang { speculative-algorithm = eagle3, simulate-acc-len = 4 }";
        try (var cluster = EmulatedCluster.startPaused(SETTINGS + eagle)) {
            var request = cluster.submit(100, 7);
            cluster.advance(Duration.ofSeconds(1));

            assertThat(request.tokenNanos()).containsExactly(14 * MILLI, 24 * MILLI, 34 * MILLI);
            assertThat(request.finished().numOutputTokens()).isEqualTo(7);
            cluster.check().hasCompleted(1);
        }
    }

    /**
     * A token of 131,072 bytes takes 1 ms to the host. The first answer of 10 tokens and 2 is cached with 11; when the second
     * prompt of 20 tokens is planned at 34 ms there are 19 of 30 left, so that all 11 are written back until 45 ms.
     */
    @ParameterizedTest
    @CsvSource({"write-back, 55", "write-through, 44"})
    void writeBack_delaysTheNextBatch(String policy, long firstTokenMillis) {
        String hierarchy = """
            latency.llm = llama-3.1-8b
            kv-cache.tiers.host { bandwidth = 0.131072, bandwidth-both-ways = 0.262144 }
            engine.sglang { enable-hierarchical-cache = true, max-total-tokens = 30, disable-overlap-schedule = true }
            """;
        try (var cluster =
                EmulatedCluster.startPaused(SETTINGS + hierarchy + "engine.sglang.hicache-write-policy = " + policy)) {
            var first = cluster.submit(10, 2);
            cluster.advance(Duration.ofMillis(30));
            var second = cluster.submit(20, 1);
            cluster.advance(Duration.ofSeconds(1));

            assertThat(first.tokenNanos()).containsExactly(14 * MILLI, 24 * MILLI);
            assertThat(second.tokenNanos()).containsExactly(firstTokenMillis * MILLI);
            cluster.check().hasCompleted(2);
        }
    }

    /**
     * A pool of 100 tokens, whose copies take 1 s each. The first answer ends with 10 + 19 tokens, which stay while they are
     * copied. The second was admitted beside it, since only 0.7 of what the first may need was counted: 10 + 64 + 1 < 90 - 14.
     * Alone it needs 74 of the 71 that are left.
     */
    @Test
    void decodeThatDoesNotFitAlone_fails() {
        String slow = """
            latency.llm = llama-3.1-8b
            kv-cache.tiers.host { bandwidth = 0.000131072, bandwidth-both-ways = 0.000262144 }
            engine.sglang { enable-hierarchical-cache = true, max-total-tokens = 100, disable-overlap-schedule = true }
            """;
        try (var cluster = EmulatedCluster.startPaused(SETTINGS + slow)) {
            var first = cluster.submit(10, 20);
            cluster.advance(Duration.ofMillis(5));
            var second = cluster.submit(10, 64);
            cluster.advance(Duration.ofSeconds(2));

            assertThat(first.tokenNanos()).hasSize(20);
            assertThat(second.failed().cause()).isEqualTo(RequestEvent.FailureCause.OUT_OF_MEMORY);
            assertThat(second.failed().reason()).startsWith("Out of memory even after retracting all other requests");
            cluster.check().hasCompleted(1).hasFailed(1).hasUnfinished(0);
        }
    }

    @Test
    void crash_takesRequestsToTheOtherReplica() {
        try (var cluster = EmulatedCluster.startPaused(SETTINGS + "cluster.replicas = 2, faults.on-crash = resume")) {
            var request = cluster.submit(100, 5);
            cluster.advance(Duration.ofMillis(35));
            cluster.inject(new Fault.Crash(0));
            cluster.advance(Duration.ofSeconds(1));

            assertThat(request.tokenNanos()).hasSize(5);
            assertThat(request.replicaIndex()).isEqualTo(1);
            cluster.check().hasCompleted(1);
        }
    }

    /** Laws of a run with faults, and of engine and memory under a random hand; memory for about three requests. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "1 |",
                "2 | engine.sglang.page-size = 4",
                "3 | engine.sglang { disable-overlap-schedule = true, enable-mixed-chunk = true }",
                "4 | engine.sglang { disable-radix-cache = true, page-size = 8 }",
                "5 | engine.sglang { disable-radix-cache = true, chunked-prefill-size = -1 }",
                "6 | engine.sglang { schedule-policy = lpm, radix-eviction-policy = lfu }",
                "7 | engine.sglang { schedule-policy = dfs-weight, enable-mixed-chunk = true }",
                "8 | engine.sglang { schedule-policy = routing-key, chunked-prefill-size = -1, max-prefill-tokens = 100 }",
                "9 | router.policy = kv-aware",
                "10 | router.policy = kv-aware, engine.sglang.page-size = 16",
                "11 | engine.sglang { retraction-policy = priority, enable-priority-scheduling = true,"
                        + " disable-priority-preemption = true }",
                // Half of the 24 layers have a window of 128 tokens, and a pool of 0.8 * 640 = 512 tokens.
                "12 | latency.llm = gpt-oss-20b, engine.sglang.swa-eviction-interval = 4",
                "13 | latency.llm = gpt-oss-20b, engine.sglang { page-size = 4, swa-eviction-interval = 1 }",
                "14 | latency.llm = gpt-oss-20b, engine.sglang { disable-radix-cache = true, enable-mixed-chunk = true }",
                "15 | latency.llm = gpt-oss-20b, engine.sglang { chunked-prefill-size = -1, schedule-policy = lpm }",
                "16 | engine.sglang { speculative-algorithm = eagle, simulate-acc-len = 2.5 }",
                "17 | engine.sglang { speculative-algorithm = eagle3, simulate-acc-len = 1.7, speculative-num-steps = 2,"
                        + " speculative-eagle-topk = 2, speculative-num-draft-tokens = 5, page-size = 4,"
                        + " disable-overlap-schedule = true }",
                "18 | engine.sglang { speculative-algorithm = eagle, simulate-acc-len = 3, disable-radix-cache = true }",
                "19 | engine.sglang { prefill-decode-interval = 3, disable-overlap-schedule = true }",
                "20 | engine.sglang { prefill-decode-interval = 20, chunked-prefill-size = 16 }",
                "21 | engine.sglang { enable-prefill-delayer = true, prefill-delayer-queue-min-ratio = 0.5 }",
                "22 | workload.loras.count = 5, engine.sglang { enable-lora = true, max-loras-per-batch = 2 }",
                "24 | engine.sglang { enable-hierarchical-cache = true, disable-overlap-schedule = true }",
                "25 | workload.priorities = 4, engine.sglang { max-running-requests = 2, enable-priority-scheduling = true,"
                        + " priority-scheduling-preemption-threshold = 0, enable-mixed-chunk = true }",
                "23 | latency { llm = \"\", data-parallel-size = 2 }, engine.sglang.chunked-prefill-size = 128",
                "29 | latency { llm = \"\", data-parallel-size = 2 }, engine.sglang { prefill-decode-interval = 3,"
                        + " disable-overlap-schedule = true, chunked-prefill-size = 128 }",
                "30 | latency { llm = \"\", data-parallel-size = 2 }, engine.sglang { enable-prefill-delayer = true,"
                        + " prefill-decode-interval = 2, prefill-delayer-max-delay-passes = 4, chunked-prefill-size = 128 }",
                "31 | latency { llm = \"\", data-parallel-size = 2 }, engine.sglang { enable-prefill-delayer = true,"
                        + " speculative-algorithm = eagle, simulate-acc-len = 2.5, prefill-delayer-queue-min-ratio = 0.5 }",
                "26 | router.policy = kv-aware, engine.sglang.enable-hierarchical-cache = true,"
                        + " kv-cache.tiers.host.bandwidth = 13",
                "27 | router.policy = kv-aware, engine.sglang { enable-hierarchical-cache = true,"
                        + " hicache-write-policy = write-back, page-size = 4 }, kv-cache.tiers.host.bandwidth = 1",
                "28 | router.policy = prefix-aware, latency.llm = gpt-oss-20b, engine.sglang.page-size = 4"
            })
    void lawsHold_whateverHappens(int seed, String settings) throws InterruptedException {
        var scenario = new ScenarioFile(Map.of())
                .load(Section.of("seed = " + seed + "\n" + SETTINGS + """
                    cluster.replicas = 2
                    engine.max-model-len = 300
                    engine.sglang { max-total-tokens = 640, chunked-prefill-size = 64, max-running-requests = 8 }
                    faults {
                      on-crash = reroute
                      plan = [
                        { at = 2s, do = crash, replica = 0, for = 1s }
                        { at = 4s, do = drain, replica = 1, for = 1s }
                      ]
                    }
                    workload {
                      requests = 80
                      arrivals.request-rate = 20
                      lengths { prompt { kind = uniform, min = 1, max = 150 }, output { kind = uniform, min = 1, max = 140 } }
                    }
                    """ + (settings == null ? "" : settings)));

        var failure = new Fuzzer(seed, List.of(new RunCheck(), new MemoryCheck())).failure(scenario);

        assertThat(failure).isEmpty();
    }

    /**
     * Eight prefixes of 150 tokens do not fit the 640 of the GPU, but they do the 1,280 of the host: with it more is found. A
     * token's copy takes 131,072 bytes / 13.1072 GB/s = 10 us.
     */
    @ParameterizedTest
    @CsvSource({"write-through", "write-through-selective", "write-back"})
    void copiesOnTheHost_findMore(String policy) throws Exception {
        String host = "engine.sglang { enable-hierarchical-cache = true, hicache-write-policy = " + policy + " }\n";

        assertThat(numHitTokens(host)).isGreaterThan(numHitTokens("") + 1000);
    }

    private static long numHitTokens(String settings) throws Exception {
        var file = new ScenarioFile(Map.of()).load(Section.of(SETTINGS + """
            engine.max-model-len = 300
            engine.sglang { max-total-tokens = 640, chunked-prefill-size = 64, max-running-requests = 8 }
            kv-cache.tiers.host.bandwidth = 13.1072
            workload {
              requests = 200
              arrivals.request-rate = 10
              lengths { prompt { kind = uniform, min = 1, max = 50 }, output { kind = uniform, min = 1, max = 20 } }
              prefix-groups { count = 8, length { kind = fixed, mean = 150 } }
            }
            """ + settings));
        assertThat(new Fuzzer(1, List.of(new RunCheck())).failure(file)).isEmpty();
        var scenario = Scenario.read(file);
        try (var emulation = new Emulation()) {
            emulation.start(scenario.clusterSpec(scenario.workloadSource(), true), Double.POSITIVE_INFINITY);
            var run = emulation.await(120_000).run();

            assertThat(Invariants.check(run)).isEmpty();
            return run.replicas().get(0).stats().prefixCache().hits();
        }
    }

    private static final String MIXED = """
        latency.model = linear
        latency.linear { per-step = 10ms, per-token = 1us, per-decode-seq = 0ns, per-kv-token = 0ns }
        cluster.groups = [
          { name = vllm, replicas = 2, engine.kind = vllm, kv-cache { num-gpu-blocks = 200, block-size = 8 } }
          { name = sglang, replicas = 2, engine { kind = sglang, sglang { max-total-tokens = 1600 } } }
          { name = paged, replicas = 1, engine { kind = sglang, sglang { max-total-tokens = 1600, page-size = 32 } } }
        ]
        engine.max-model-len = 600
        """;

    /** Both engines behind one router that follows their KV events; a crash and a drain of a replica of each. */
    @ParameterizedTest
    @CsvSource({"kv-aware, 1", "prefix-aware, 2", "round-robin, 3"})
    void mixedGroups_loseNothing(String policy, int seed) throws Exception {
        var scenario = Scenario.read(new ScenarioFile(Map.of()).load(Section.of(MIXED + """
            router.policy = %s
            seed = %d
            faults {
              on-crash = resume
              plan = [
                { at = 2s, do = crash, replica = 0, for = 1s }
                { at = 5s, do = crash, replica = 2, for = 1s }
                { at = 8s, do = drain, replica = 1, for = 2s }
                { at = 11s, do = drain, replica = 3, for = 2s }
              ]
            }
            workload {
              requests = 1000
              arrivals.request-rate = 40
              lengths { prompt { kind = uniform, min = 1, max = 100 }, output { kind = uniform, min = 1, max = 60 } }
              prefix-groups { count = 8, length { kind = fixed, mean = 70 } }
            }
            """.formatted(policy, seed))));

        try (var emulation = new Emulation()) {
            emulation.start(scenario.clusterSpec(scenario.workloadSource(), true), Double.POSITIVE_INFINITY);
            var run = emulation.await(120_000).run();

            assertThat(Invariants.check(run)).isEmpty();
            assertThat(run.requests().size()).isEqualTo(1000);
            for (int i = 0; i < 1000; i++) {
                assertThat(run.requests().get(i).outcome()).isEqualTo(Outcome.COMPLETED);
            }
            assertThat(run.replicas()).allSatisfy(replica -> {
                assertThat(replica.stats().numRequests()).isPositive();
                assertThat(replica.stats().prefixCache().hits()).isPositive();
            });
        }
    }

    /** With events in blocks of 8 tokens, a prefix of 16 is one, on a replica with pages of 1 and on one with pages of 32. */
    @Test
    void prefix_countsInTheBlocksOfTheFirstEngineWithBlocks() {
        var engines = Scenario.read(new ScenarioFile(Map.of()).load(Section.of(MIXED + "router.policy = kv-aware")))
                .groups();

        assertThat(engines)
                .extracting(group -> group.engine().kvCache().hasher().blockSize())
                .containsExactly(8, 8, 8);
        assertThat(engines)
                .extracting(group -> group.engine().kvCache().blockSize())
                .containsExactly(8, 1, 32);
    }
}
