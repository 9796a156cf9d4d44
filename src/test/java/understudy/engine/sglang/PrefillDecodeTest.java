package understudy.engine.sglang;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Map;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.cluster.RequestEvent;
import understudy.engine.OutputPlan;
import understudy.engine.Request;
import understudy.faults.Fault;
import understudy.faults.FleetChange;
import understudy.faults.SleepMode;
import understudy.host.Emulation;
import understudy.prompt.Prompt;
import understudy.prompt.SegmentedTokens;
import understudy.report.Invariants;
import understudy.report.Outcome;
import understudy.report.RunRecord;
import understudy.scenario.Scenario;
import understudy.scenario.ScenarioFile;
import understudy.settings.ScenarioException;
import understudy.settings.Section;
import understudy.testkit.EmulatedCluster;
import understudy.testkit.EmulatedRequest;

/**
 * Requests that two engines of SGLang share. A request takes 4 ms to the queues of both, a step 10 ms. A page of 16 tokens has
 * 16 x 131,072 bytes, and takes 1 ms at 2.097152 GB/s, besides 1 ms before the bytes and 1 ms for the news of their end.
 *
 * <p>The first of 100 tokens, 7 pages: the handshake ends at 4 + (4 + 1 + 1) = 10 ms, the places are announced at 11 ms, the
 * prompt is computed at 21 ms, its KV there at 21 + (1 + 7 + 1) = 30 ms, with the first token; the second comes at 40 ms.
 */
final class PrefillDecodeTest {
    private static final long MILLI = 1_000_000;
    private static final String SETTINGS = """
        engine.kind = sglang
        engine.sglang { page-size = 16, max-running-requests = 16 }
        latency.model = linear
        latency.linear { per-step = 10ms, per-token = 0ns, per-decode-seq = 0ns, per-kv-token = 0ns }
        kv-cache.transfer { bandwidth = 2.097152, handshake = 4ms, post = 1ms, notify = 1ms }
        cluster.groups = [{ name = p, replicas = 1, role = prefill }, { name = d, replicas = 1, role = decode }]
        """;
    private static final String TWO_AND_TWO = """
        cluster.groups = [{ name = p, replicas = 2, role = prefill }, { name = d, replicas = 2, role = decode }]
        """;

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void request_crossesTwoEngines(boolean isSynchronous) {
        try (var cluster = start("engine.sglang.disable-overlap-schedule = " + isSynchronous)) {
            var request = cluster.submit(100, 3);
            advance(cluster, 1000);

            assertThat(request.tokenNanos()).containsExactly(30 * MILLI, 40 * MILLI, 50 * MILLI);
            assertThat(request.replicaIndex()).isEqualTo(1);
            cluster.check().hasCompleted(1).hasServed(0, 1).hasServed(1, 1);
        }
    }

    /** There is one handshake: 4 + 1 + 10 + 9. */
    @Test
    void nextRequest_hasNoHandshake() {
        try (var cluster = start("")) {
            cluster.submit(100, 1);
            advance(cluster, 100);
            var next = cluster.submit(100, 1);
            advance(cluster, 100);

            assertThat(next.tokenNanos()).containsExactly((100 + 24) * MILLI);
        }
    }

    /**
     * In chunks of 48 tokens, computed at 21, 31 and 41 ms: 3 pages are sent at 21 ms, 3 at 31 ms, and the last at 41 ms, which
     * is there at 41 + (1 + 1 + 1). With overlapping results too, since those of a step come before the next is planned.
     */
    @Test
    void chunks_areSentWhileTheNextIsComputed() {
        try (var cluster = start("engine.sglang { chunked-prefill-size = 48, disable-overlap-schedule = true }")) {
            var request = cluster.submit(100, 1);
            advance(cluster, 1000);

            assertThat(request.tokenNanos()).containsExactly(44 * MILLI);
        }
    }

    /** What is cached is sent before the rest is computed: 9 pages from 105 to 115 ms, the 10th from 115 to 118. */
    @Test
    void cachedPrefix_isSentBeforeTheRestIsComputed() {
        try (var cluster = start("")) {
            cluster.submit(prompt(144), 1);
            advance(cluster, 100);
            var next = cluster.submit(prompt(160), 1);
            advance(cluster, 100);

            assertThat(next.tokenNanos()).containsExactly((100 + 5 + 10 + 3) * MILLI);
        }
    }

    /**
     * Of 100 tokens of Qwen3-Next, 7 pages have 16 x 12 layers x 2 x 2 heads x 256 x 2 bytes = 393,216 each, and 36 layers have
     * states of 1,097,728 bytes: 2,752,512 + 39,518,208 at 1,048,576 bytes per ms are 40.3125 ms. Of two pieces, of 64 tokens
     * and 36, the second takes the states along, and has 3 pages: 1.5 ms less. With states, the first would be in its way.
     */
    @ParameterizedTest
    @CsvSource({"8192, 21, 40_312_500", "64, 31, 38_812_500"})
    void states_areSentOnce_withTheLastOfAPrompt(int chunkSize, long computedMillis, String sentNanos) {
        try (var cluster =
                start("latency { llm = qwen3-next-80b-a3b, gpu = \"\" }, kv-cache.transfer.bandwidth = 1.048576\n"
                        + "engine.sglang.chunked-prefill-size = "
                        + chunkSize)) {
            var request = cluster.submit(100, 1);
            advance(cluster, 1000);

            assertThat(request.tokenNanos())
                    .containsExactly((computedMillis + 2) * MILLI + Long.parseLong(sentNanos.replace("_", "")));
            cluster.check().hasCompleted(1);
        }
    }

    /** The pool of the decoding engine has room for one request at a time, with the tokens that are kept free: 256 < 2 x 200. */
    @Test
    void requestWithoutPlaces_isNotComputed() {
        String small = """
            cluster.groups = [
              { name = p, role = prefill }
              { name = d, role = decode
                engine.sglang { max-total-tokens = 256, num-reserved-decode-tokens = 100 } }
            ]
            """;
        try (var cluster = start(small)) {
            cluster.submit(100, 20);
            var second = cluster.submit(100, 1);
            advance(cluster, 1000);

            // The first ends at 30 + 19 x 10 = 220 ms, and a batch more runs in vain until 230 ms, when the next is
            // planned:
            // 230 + 1 + 10 + 9.
            assertThat(second.tokenNanos()).containsExactly(250 * MILLI);
            cluster.check().hasCompleted(2);
        }
    }

    /** In the queue at 4, handshake until 10, announced at 11, computed until 21, moved until 30, answered until 220. */
    @ParameterizedTest
    @ValueSource(ints = {0, 3, 4, 7, 10, 11, 15, 20, 21, 25, 30, 31, 60})
    void abort_endsARequestInEveryState(int atMillis) throws Exception {
        try (var cluster = start("")) {
            var request = cluster.submit(100, 20);
            var other = cluster.submit(100, 3);
            advance(cluster, atMillis);
            cluster.abort(request);
            advance(cluster, 1000);

            assertThat(request.isEnded()).isTrue();
            assertThat(other.tokenNanos()).hasSize(3);
            cluster.check().hasAborted(1).hasCompleted(1).hasUnfinished(0);
            assertThat(cluster.resetPrefixCache()).as("nothing holds a page").isTrue();
        }
    }

    /** The request goes back from the engine that was to answer; it waits 4 ms, and there is a handshake of 6 ms again. */
    @ParameterizedTest
    @ValueSource(ints = {2, 5, 11, 15})
    void crashOfThePrefillEngine_beginsAnewElsewhere(int atMillis) {
        try (var cluster = start(TWO_AND_TWO + "faults.on-crash = reroute, router.policy = round-robin")) {
            var request = cluster.submit(100, 1);
            advance(cluster, atMillis);
            cluster.inject(new Fault.Crash(0));
            advance(cluster, 1000);

            assertThat(request.tokenNanos()).containsExactly((atMillis + 30) * MILLI);
            cluster.check().hasCompleted(1).hasUnfinished(0);
        }
    }

    @ParameterizedTest
    @CsvSource({"5, 0", "11, 0", "15, 0", "25, 0", "5, 1", "11, 1", "15, 1", "25, 1", "35, 1"})
    void crash_failsTheRequest(int atMillis, int replica) {
        try (var cluster = start("")) {
            var request = cluster.submit(100, 3);
            advance(cluster, atMillis);
            cluster.inject(new Fault.Crash(replica));
            advance(cluster, 1000);

            assertThat(request.failed().cause())
                    .isEqualTo(
                            replica == 0 ? RequestEvent.FailureCause.KV_LOAD_FAILED : RequestEvent.FailureCause.CRASH);
            cluster.check().hasFailed(1).hasUnfinished(0);
        }
    }

    @Test
    void crashOfThePrefillEngineAfterTheTransfer_isOfNoInterest() {
        try (var cluster = start("")) {
            var request = cluster.submit(100, 3);
            advance(cluster, 31);
            cluster.inject(new Fault.Crash(0));
            advance(cluster, 1000);

            assertThat(request.tokenNanos()).hasSize(3);
        }
    }

    /**
     * The other two have met before. The request is sent again at once, but waits 4 ms; then 1 for the announcement, 10, 9. If the
     * prompt is being computed, its end is waited for no longer than until the engine has let go of it.
     */
    @ParameterizedTest
    @CsvSource({"7", "15", "25"})
    void crashOfTheDecodingEngine_beginsAnew(int atMillis) {
        try (var cluster = start(TWO_AND_TWO + "faults.on-crash = reroute, router.policy = round-robin")) {
            var request = cluster.submit(100, 3);
            advance(cluster, atMillis);
            cluster.inject(new Fault.Crash(2));
            advance(cluster, 1000);

            assertThat(request.tokenNanos()).hasSize(3);
            assertThat(request.replicaIndex()).isEqualTo(3);
            cluster.check().hasCompleted(1).hasUnfinished(0);
        }
    }

    /**
     * News take 20 ms. The handshake ends at 4 + 25 = 29 ms, and the places of the engine that dies at 35 ms are announced at 49
     * ms; by then the request is the other one's, whose handshake ends at 39 + 25 = 64 ms, whose places are announced at 84 ms,
     * and which has the KV at 84 + 10 + (1 + 7 + 20) = 122 ms.
     */
    @Test
    void announcementOfAnEngineThatHasDied_doesNotCount() {
        String late = """
            cluster.groups = [{ name = p, replicas = 1, role = prefill }, { name = d, replicas = 2, role = decode }]
            kv-cache.transfer.notify = 20ms, faults.on-crash = reroute, router.policy = round-robin
            """;
        try (var cluster = start(late)) {
            var request = cluster.submit(100, 1);
            advance(cluster, 35);
            cluster.inject(new Fault.Crash(1));
            advance(cluster, 1000);

            assertThat(request.replicaIndex()).isEqualTo(2);
            assertThat(request.tokenNanos()).containsExactly(122 * MILLI);
        }
    }

    /** A prompt of 100 tokens is too long for one of the engines: the other one is told, and has nothing left of it. */
    @ParameterizedTest
    @ValueSource(strings = {"p", "d"})
    void promptThatOneEngineRefuses_leavesNothingBehind(String small) {
        String groups = """
            engine.sglang.num-reserved-decode-tokens = 16
            cluster.groups = [
              { name = p, role = prefill, engine.sglang.max-total-tokens = %s }
              { name = d, role = decode, engine.sglang.max-total-tokens = %s }
            ]
            """.formatted(small.equals("p") ? 96 : 1000, small.equals("d") ? 96 : 1000);
        try (var cluster = start(groups)) {
            var request = cluster.submit(100, 1);
            advance(cluster, 1000);

            assertThat(request.isEnded()).isTrue();
            cluster.check().hasUnfinished(0);
            assertThat(cluster.resetPrefixCache()).isTrue();
        }
    }

    @Test
    void crashOfTheDecodingEngine_resumesBehindTheTokens() {
        try (var cluster = start(TWO_AND_TWO + "faults.on-crash = resume, router.policy = round-robin")) {
            var request = cluster.submit(100, 5);
            advance(cluster, 45);
            cluster.inject(new Fault.Crash(2));
            advance(cluster, 1000);

            assertThat(request.tokenNanos()).hasSize(5);
            cluster.check().hasCompleted(1).hasUnfinished(0);
        }
    }

    /** A server that warms up has one replica, the first: its calls would wait for ever. */
    @Test
    void requestWithoutAnotherEngine_isTurnedAway() {
        var engine = Scenario.read(new ScenarioFile(Map.of()).load(Section.of(SETTINGS)))
                .engine()
                .createEngine();

        engine.add(Request.of(0, 0, prompt(100), 1, new OutputPlan(index -> 7, OutputPlan.ENDLESS)), 0);

        assertThat(engine.takeGivenUp()).hasSize(1);
        assertThat(engine.hasWork()).isFalse();
    }

    @Test
    void engineThatLeaves_sendsWhatItHas() {
        try (var cluster = start(TWO_AND_TWO)) {
            var request = cluster.submit(100, 3);
            advance(cluster, 15);
            cluster.inject(new FleetChange.Remove(0));
            cluster.inject(new FleetChange.Remove(2));
            advance(cluster, 1000);

            assertThat(request.tokenNanos()).containsExactly(30 * MILLI, 40 * MILLI, 50 * MILLI);
        }
    }

    @Test
    void networkThatFails_failsTheRequest() {
        try (var cluster = start("")) {
            cluster.inject(new Fault.FailTransfers(OptionalInt.empty(), Fault.LinkKind.NETWORK, 1));
            var request = cluster.submit(100, 3);
            advance(cluster, 1000);

            assertThat(request.failed().cause()).isEqualTo(RequestEvent.FailureCause.KV_LOAD_FAILED);
            cluster.check().hasFailed(1).hasUnfinished(0);
        }
    }

    @Test
    void networkThatIsSlow_takesLonger() {
        try (var cluster = start("")) {
            cluster.inject(new Fault.SlowLink(OptionalInt.of(1), Fault.LinkKind.NETWORK, 0.5));
            var request = cluster.submit(100, 1);
            advance(cluster, 1000);

            assertThat(request.tokenNanos()).containsExactly((30 + 7) * MILLI);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "1 | 1 | 1 |",
                "2 | 2 | 2 |",
                "3 | 2 | 2 | engine.sglang { page-size = 1 }",
                "4 | 1 | 2 | engine.sglang { disable-overlap-schedule = true }",
                "5 | 2 | 1 | engine.sglang { chunked-prefill-size = -1, disaggregation-decode-polling-interval = 3 }",
                "6 | 2 | 2 | engine.sglang { disable-radix-cache = true }, router.policy = least-outstanding",
                "7 | 2 | 2 | engine.sglang { schedule-policy = lpm }, router.policy = prefix-aware"
            })
    void thousandRequests_endOnceWhateverHappens(int seed, int numPrefill, int numDecode, String settings)
            throws Exception {
        var run = run("""
            cluster.groups = [
              { name = p, replicas = %1$d, role = prefill }
              { name = d, replicas = %2$d, role = decode }
            ]
            seed = %3$d
            engine.max-model-len = 300
            engine.sglang { max-total-tokens = 1280, num-reserved-decode-tokens = 64, chunked-prefill-size = 64 }
            faults {
              on-crash = resume
              plan = [
                { at = 3s, do = crash, replica = 0, for = 1s }
                { at = 6s, do = crash, replica = %1$d, for = 1s }
                { at = 9s, do = drain, replica = 0, for = 1s }
                { at = 12s, do = drain, replica = %1$d, for = 1s }
                { at = 15s, do = fail-transfers, link = network, rate = 0.2, for = 1s }
                { at = 18s, do = crash, replica = %1$d, for = 0s }
                { at = 18s, do = crash, replica = 0, for = 0s }
              ]
            }
            workload {
              requests = 1000
              arrivals.request-rate = 15
              lengths { prompt { kind = uniform, min = 1, max = 150 }, output { kind = uniform, min = 1, max = 140 } }
            }
            """.formatted(numPrefill, numDecode, seed) + (settings == null ? "" : settings));

        assertThat(Invariants.check(run)).isEmpty();
        assertThat(run.requests().size()).isEqualTo(1000);
        assertThat(run.replicas()).allSatisfy(replica -> {
            assertThat(replica.kvCache().numInUse()).isZero();
            assertThat(replica.stats().numRequests()).isPositive();
        });
        assertThat(count(run, Outcome.COMPLETED)).isGreaterThan(700);
        assertThat(count(run, Outcome.COMPLETED) + count(run, Outcome.FAILED)).isEqualTo(1000);
    }

    /** A third of the requests is given up at some time, while engines crash, sleep and come back, and lose pieces. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 7, 35})
    void abortsAtRandom_leaveNothingBehind(int seed) {
        var random = new SplittableRandom(seed);
        String small =
                "engine.max-model-len = 300, engine.sglang { max-total-tokens = 1280, num-reserved-decode-tokens = 64,"
                        + " chunked-prefill-size = 64, max-running-requests = 8 }, faults.on-crash = "
                        + (seed % 2 == 0 ? "resume" : "reroute") + "\n";
        try (var cluster = start(small + TWO_AND_TWO)) {
            var requests = new ArrayList<EmulatedRequest>();
            for (int i = 0; i < 400; i++) {
                requests.add(cluster.submit(prompt(1 + random.nextInt(150)), 1 + random.nextInt(60)));
                cluster.advance(Duration.ofNanos(random.nextLong(40 * MILLI)));
                if (random.nextInt(3) == 0) {
                    cluster.abort(requests.get(Math.max(0, i - random.nextInt(10))));
                }
                if (i % 20 == 10) {
                    disturb(cluster, random.nextInt(4), random);
                }
            }
            advance(cluster, 300_000);

            assertThat(requests)
                    .allSatisfy(request -> assertThat(request.events())
                            .filteredOn(event -> !(event instanceof RequestEvent.Token))
                            .filteredOn(event -> !(event instanceof RequestEvent.Admitted))
                            .hasSize(1));
            assertThat(cluster.resetPrefixCache()).as("nothing holds a page").isTrue();
        }
    }

    private static void disturb(EmulatedCluster cluster, int replica, SplittableRandom random) {
        switch (random.nextInt(3)) {
            case 0 -> {
                cluster.inject(new Fault.Crash(replica));
                advance(cluster, random.nextInt(50));
                cluster.inject(new FleetChange.Restart(replica));
            }
            case 1 -> {
                var modes = SleepMode.values();
                cluster.inject(new FleetChange.Sleep(replica, 0, modes[random.nextInt(modes.length)]));
                advance(cluster, random.nextInt(500));
                cluster.inject(new FleetChange.Wake(replica));
            }
            default -> {
                cluster.inject(new Fault.FailTransfers(OptionalInt.empty(), Fault.LinkKind.NETWORK, 0.2));
                advance(cluster, random.nextInt(100));
                cluster.inject(new Fault.FailTransfers(OptionalInt.empty(), Fault.LinkKind.NETWORK, 0));
            }
        }
        advance(cluster, 50);
    }

    private static long count(RunRecord run, Outcome outcome) {
        long count = 0;
        for (int i = 0; i < run.requests().size(); i++) {
            count += run.requests().get(i).outcome() == outcome ? 1 : 0;
        }
        return count;
    }

    private static RunRecord run(String settings) throws Exception {
        var scenario = Scenario.read(new ScenarioFile(Map.of()).load(Section.of(SETTINGS + settings)));
        try (var emulation = new Emulation()) {
            emulation.start(scenario.clusterSpec(scenario.workloadSource(), true), Double.POSITIVE_INFINITY);
            return emulation.await(120_000).run();
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{ name = p, role = prefill }, { name = d, role = decode, engine.kind = vllm }"
                        + "| one engine.kind, not sglang and vllm",
                "{ name = p, role = prefill }, { name = d, role = decode, engine.sglang.page-size = 1 }"
                        + "| page-size is 16 in p and 1 in d; set engine.sglang.page-size to one value",
                "{ name = p, role = prefill }, { name = b, role = both }"
                        + "| cluster.groups.1.role is \"both\", but another group has a role"
            })
    void enginesThatDoNotFit_areRefused(String groups, String message) {
        assertThatThrownBy(() -> start("cluster.groups = [" + groups + "]"))
                .isInstanceOf(ScenarioException.class)
                .hasMessageContaining(message);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "router.disaggregation.decider = never | engines that answer compute no prompts",
                "router.disaggregation.on-prefill-failure = decode-locally | set it to fail",
                "kv-cache.transfer.load-failure-policy = recompute | means nothing to engine.kind = sglang",
                "engine.sglang.enable-hierarchical-cache = true | which goes without roles here; set it to false",
                "engine.sglang { speculative-algorithm = eagle, simulate-acc-len = 2 } | set it to none",
                "engine.sglang.enable-lora = true | which goes without roles here; leave the default",
                "latency.llm = gpt-oss-20b | takes one pool here; set it to true",
                "engine.sglang { max-total-tokens = 512 } | must be less than the 512 tokens of the pool"
            })
    void settingsThatRolesDoNotHave_areRefused(String settings, String message) {
        assertThatThrownBy(() -> start(settings))
                .isInstanceOf(ScenarioException.class)
                .hasMessageContaining(message);
    }

    private static Prompt prompt(int numTokens) {
        return new Prompt(SegmentedTokens.EMPTY.append(7, numTokens));
    }

    private static EmulatedCluster start(String settings) {
        return EmulatedCluster.startPaused(SETTINGS + settings);
    }

    private static void advance(EmulatedCluster cluster, int millis) {
        cluster.advance(Duration.ofMillis(millis));
    }
}
