package understudy.engine.sglang;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.faults.Fault;
import understudy.fuzz.Fuzzer;
import understudy.fuzz.RunCheck;
import understudy.prompt.Prompt;
import understudy.prompt.TokenIds;
import understudy.scenario.ScenarioFile;
import understudy.settings.ScenarioException;
import understudy.settings.Section;
import understudy.testkit.EmulatedCluster;

/**
 * Storage behind HiCache. A step takes 10 ms, and a request 4 ms to the queue. A token of 131,072 bytes comes from the
 * storage in 1 ms, and goes there in 0.1 ms; a lookup takes 2 ms.
 */
final class SglangStorageTest {
    private static final long MILLI = 1_000_000;
    private static final String SETTINGS = """
        engine.kind = sglang
        latency.llm = llama-3.1-8b
        latency.model = linear
        latency.linear { per-step = 10ms, per-token = 0ns, per-decode-seq = 0ns, per-kv-token = 0ns }
        kv-cache.tiers.store { read-bandwidth = 0.131072, write-bandwidth = 1.31072, lookup = 2ms }
        router.policy = round-robin
        engine.sglang {
          enable-hierarchical-cache = true
          hicache-storage-backend = mooncake
          prefetch-threshold = 10
          prefetch-timeout-base = 20ms
          prefetch-timeout-per-ki-token = 256ms
          max-total-tokens = 400
          disable-overlap-schedule = true
        }
        """;
    private static final String TWO = SETTINGS + "cluster.replicas = 2\n";
    private static final String WAIT = "engine.sglang.hicache-storage-prefetch-policy = wait-complete\n";

    private static Prompt prompt(int numTokens) {
        return new Prompt(new TokenIds(IntStream.range(0, numTokens).toArray()));
    }

    /**
     * The first replica writes 100 tokens by 26 ms. The second one has 121 at 34 ms, and knows at 36 ms that the storage has
     * 100 of them, which take until 136 ms. It does not wait at all, it waits for that, or for 20 ms and 100 * 0.25 ms more,
     * until just after 79 ms.
     */
    @ParameterizedTest
    @CsvSource({"best-effort, 44000000, 0", "wait-complete, 146000000, 100", "timeout, 89000001, 0"})
    void secondReplica_fetchesWhatTheFirstHasWritten(String policy, long tokenNanos, int numHits) {
        try (var cluster =
                EmulatedCluster.startPaused(TWO + "engine.sglang.hicache-storage-prefetch-policy = " + policy)) {
            cluster.submit(prompt(100), 1);
            cluster.advance(Duration.ofMillis(30));
            var second = cluster.submit(prompt(121), 1);
            cluster.advance(Duration.ofSeconds(1));

            assertThat(second.tokenNanos()).containsExactly(tokenNanos);
            assertThat(second.replicaIndex()).isEqualTo(1);
            cluster.check().hasCompleted(2).hasPrefixCacheHits(numHits);
        }
    }

    /** Each replica writes what the storage lacks: 100 tokens, and the 21 behind them. The first lookup has found nothing. */
    @Test
    void report_countsWhatGoesAndComes() {
        try (var cluster = EmulatedCluster.startPaused(TWO + WAIT)) {
            cluster.submit(prompt(100), 1);
            cluster.advance(Duration.ofMillis(30));
            cluster.submit(prompt(121), 1);
            cluster.advance(Duration.ofSeconds(1));

            var figures = cluster.report().own().get(0).figures();
            assertThat(figures)
                    .filteredOn(figure -> List.of("prefetched_tokens", "backuped_tokens", "revoked_prefetches")
                            .contains(figure.key()))
                    .extracting(figure -> figure.value())
                    .containsExactly(100.0, 121.0, 1.0);
        }
    }

    /** The first group's engines have no storage; the second group's have one together. */
    @Test
    void groups_haveTheStoreOfTheFirstThatHasOne() {
        String groups = """
            engine.max-model-len = 300
            cluster.groups = [
              { name = vllm, replicas = 1, engine.kind = vllm, kv-cache.num-gpu-blocks = 100 }
              { name = sglang, replicas = 2, engine { kind = sglang, sglang {
                enable-hierarchical-cache = true, hicache-storage-backend = mooncake, prefetch-threshold = 10
                max-total-tokens = 400, hicache-storage-prefetch-policy = wait-complete } } }
            ]
            """;
        String settings = SETTINGS.substring(SETTINGS.indexOf("latency.llm"), SETTINGS.indexOf("engine.sglang {"));
        try (var cluster = EmulatedCluster.startPaused(settings.replaceFirst("kv-cache.tiers.store.*", "") + groups)) {
            for (int i = 0; i < 3; i++) {
                cluster.submit(prompt(100), 1);
                cluster.advance(Duration.ofMillis(100));
            }

            assertThat(cluster.report().own().get(0).figures())
                    .filteredOn(figure -> figure.key().equals("prefetched_tokens"))
                    .extracting(figure -> figure.value())
                    .containsExactly(100.0);
            cluster.check().hasCompleted(3);
        }
    }

    /** Pages of one group would be found by another one that cannot read them. */
    @Test
    void groupsWithOtherPages_cannotShareAStore() {
        String groups = "cluster.groups = [{ name = a }, { name = b, engine.sglang.page-size = 4 }]";

        assertThatThrownBy(() -> EmulatedCluster.startPaused(SETTINGS + groups))
                .isInstanceOf(ScenarioException.class)
                .hasMessageContaining("share one store: they must have one model, one page-size and the same");
    }

    /** A file is each replica's own: the second one finds nothing, after the disk's 0.1 ms. */
    @Test
    void files_areEachReplicasOwn() {
        try (var cluster = EmulatedCluster.startPaused(
                TWO.replace("mooncake", "file").replaceFirst("kv-cache.tiers.store.*", "") + WAIT)) {
            cluster.submit(prompt(100), 1);
            cluster.advance(Duration.ofMillis(100));
            var second = cluster.submit(prompt(121), 1);
            cluster.advance(Duration.ofSeconds(1));

            assertThat(second.tokenNanos()).containsExactly((100 + 4 + 10) * MILLI + MILLI / 10);
            cluster.check().hasCompleted(2).hasPrefixCacheHits(0);
        }
    }

    /**
     * While two prompts wait for what is fetched until 136 and 236 ms, one of 5 tokens that came behind them is computed, though
     * there is one seat.
     */
    @Test
    void fetch_isPassedOver() {
        try (var cluster = EmulatedCluster.startPaused(SETTINGS + WAIT + "engine.sglang.max-running-requests = 1")) {
            cluster.submit(prompt(100), 1);
            cluster.advance(Duration.ofMillis(30));
            assertThat(cluster.resetPrefixCache()).isTrue();
            var first = cluster.submit(prompt(121), 1);
            var second = cluster.submit(prompt(110), 1);
            cluster.advance(Duration.ofMillis(10));
            var third = cluster.submit(new Prompt(new TokenIds(9, 9, 9, 9, 9)), 1);
            cluster.advance(Duration.ofSeconds(1));

            assertThat(third.tokenNanos()).containsExactly(54 * MILLI);
            assertThat(first.tokenNanos()).containsExactly(146 * MILLI);
            assertThat(second.tokenNanos()).containsExactly(246 * MILLI);
            // 109 of the second are the first's by then: all but the last token.
            cluster.check().hasCompleted(4).hasPrefixCacheHits(100 + 109);
        }
    }

    /** A cleared tree is told of no fetch that goes on: it is not cleared. */
    @Test
    void reset_isRefusedDuringAFetch() {
        try (var cluster = EmulatedCluster.startPaused(TWO + WAIT)) {
            cluster.submit(prompt(100), 1);
            cluster.advance(Duration.ofMillis(30));
            cluster.submit(prompt(121), 1);
            cluster.advance(Duration.ofMillis(30));

            assertThat(cluster.resetPrefixCache()).isFalse();
        }
    }

    /** A replica that dies at 60 ms, in the middle of a fetch, leaves nothing behind; the other one has the prefix. */
    @Test
    void crash_endsAFetch() {
        try (var cluster = EmulatedCluster.startPaused(TWO + WAIT + "faults.on-crash = reroute")) {
            cluster.submit(prompt(100), 1);
            cluster.advance(Duration.ofMillis(30));
            var second = cluster.submit(prompt(121), 1);
            cluster.advance(Duration.ofMillis(30));
            cluster.inject(new Fault.Crash(1));
            cluster.advance(Duration.ofSeconds(1));

            assertThat(second.replicaIndex()).isZero();
            cluster.check().hasCompleted(2).hasPrefixCacheHits(100);
        }
    }

    /** The places of what has come are free again, and what is under way ends: a later request can be fetched for. */
    @Test
    void abort_endsAFetch() {
        try (var cluster = EmulatedCluster.startPaused(TWO + WAIT)) {
            cluster.submit(prompt(100), 1);
            cluster.advance(Duration.ofMillis(30));
            var second = cluster.submit(prompt(121), 1);
            cluster.advance(Duration.ofMillis(30));
            cluster.abort(second);
            cluster.advance(Duration.ofMillis(140));
            cluster.submit(prompt(5), 1);
            var third = cluster.submit(prompt(121), 1);
            cluster.advance(Duration.ofSeconds(1));

            // At 204 ms to the queue, looked up by 206 ms, and here at 306 ms.
            assertThat(third.tokenNanos()).containsExactly(316 * MILLI);
            cluster.check().hasCompleted(3).hasAborted(1);
        }
    }

    /** Laws of a run with faults, whose two replicas have room for about three requests each, and for six on the host. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "1 | hicache-storage-prefetch-policy = wait-complete",
                "2 | hicache-storage-prefetch-policy = timeout, prefetch-timeout-base = 1ms",
                "3 | page-size = 4, hicache-write-policy = write-back, hicache-storage-prefetch-policy = wait-complete",
                "4 | hicache-write-policy = write-back, hicache-ratio = 0.5",
                "5 | hicache-write-policy = write-through-selective, hicache-ratio = 0.5,"
                        + " hicache-storage-prefetch-policy = timeout",
                "6 | schedule-policy = lpm, disable-overlap-schedule = false,"
                        + " hicache-storage-prefetch-policy = wait-complete",
                "7 | max-queued-requests = 3, req-waiting-timeout = 50ms,"
                        + " hicache-storage-prefetch-policy = wait-complete",
                "8 | enable-priority-scheduling = true, max-running-requests = 2,"
                        + " priority-scheduling-preemption-threshold = 0, hicache-storage-prefetch-policy = wait-complete",
                // Ranks that step together.
                "9 | hicache-storage-prefetch-policy = wait-complete }, latency { llm = \"\", data-parallel-size = 2",
                "10 | disable-overlap-schedule = false, hicache-storage-prefetch-policy = timeout,"
                        + " prefetch-timeout-base = 5ms }, latency { llm = \"\", data-parallel-size = 2"
            })
    void lawsHold_whateverHappens(int seed, String settings) throws InterruptedException {
        var scenario = new ScenarioFile(Map.of())
                .load(Section.of("seed = " + seed + "\n" + TWO + """
                    router.policy = kv-aware
                    kv-cache.tiers.store { read-bandwidth = 1, tokens = 2000 }
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
                      requests = 120
                      priorities = 4
                      arrivals.request-rate = 20
                      lengths { prompt { kind = uniform, min = 1, max = 90 }, output { kind = uniform, min = 1, max = 90 } }
                      prefix-groups { count = 12, length { kind = fixed, mean = 70 } }
                    }
                    """ + "engine.sglang { " + settings + " }"));

        var failure = new Fuzzer(seed, List.of(new RunCheck())).failure(scenario);

        assertThat(failure).isEmpty();
    }
}
