package understudy.api.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import it.unimi.dsi.fastutil.ints.IntImmutableList;
import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.longs.LongList;
import it.unimi.dsi.fastutil.longs.LongLists;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import understudy.api.http.Json;
import understudy.cluster.ClusterEvent;
import understudy.cluster.ClusterEventStepEndedBuilder;
import understudy.engine.lora.AdapterUse;
import understudy.engine.speculation.DraftCounts;
import understudy.faults.ReplicaState;
import understudy.figure.OwnFigures;
import understudy.kvcache.KvBlockCounts;
import understudy.kvcache.PrefixCacheEvents;
import understudy.kvcache.PrefixCacheStats;
import understudy.kvcache.connector.KvSource;
import understudy.kvcache.connector.TierState;
import understudy.kvcache.connector.TierStats;
import understudy.prompt.SessionTurn;
import understudy.report.Outcome;
import understudy.report.RequestRecord;
import understudy.report.RequestRecordBuilder;
import understudy.report.transfers.KvTraffic;
import understudy.report.transfers.PromptTokens;
import understudy.routing.RoutingScores;
import understudy.transfer.TransferCounts;
import understudy.transfer.TransferFigures;

final class LiveViewTest {
    private static final long MS = 1_000_000;
    private static final long SECOND = 1000 * MS;

    private final LiveView view = new LiveView(0, replica -> new LiveReplica.Kind(null, 100));

    @Test
    void aReplicaThatHasSaidNothingIsEmpty() {
        view.onStates(List.of(ReplicaState.READY, ReplicaState.DOWN));

        var replicas = snapshot().get("replicas");
        assertThat(replicas).hasSize(2);
        assertThat(replicas.get(0)).hasToString("""
                {"state":"ready","running":0,"waiting":0,"tokensPerStep":0,\
                "kv":{"total":100,"used":0,"cached":0,"free":100}}""");
        assertThat(replicas.get(1).get("kv").get("total").asInt()).isZero();
    }

    @Test
    void cardsShowTheLatestAndTotalsAddUp() {
        view.onStates(List.of(ReplicaState.READY, ReplicaState.READY));
        view.on(scheduler(0, 3, 1));
        view.on(scheduler(1, 2, 0));
        view.on(cache(0, new KvBlockCounts(100, 30, 50), new PrefixCacheStats(40, 10, 0, 0)));
        view.on(cache(1, new KvBlockCounts(100, 20, 0), new PrefixCacheStats(60, 40, 0, 0)));
        view.on(step(0, 77, 5 * MS, List.of()));

        assertThat(snapshot().get("replicas").get(0)).hasToString("""
                {"state":"ready","running":3,"waiting":1,"tokensPerStep":77,\
                "kv":{"total":100,"used":30,"cached":50,"free":20}}""");
        var totals = snapshot().get("totals");
        assertThat(totals.get("running").asInt()).isEqualTo(5);
        assertThat(totals.get("waiting").asInt()).isEqualTo(1);
        assertThat(totals.get("prefixQueries").asInt()).isEqualTo(100);
        assertThat(totals.get("prefixHits").asInt()).isEqualTo(50);
        // (30 + 20) / (100 + 100)
        assertThat(totals.get("kvUsage").asDouble()).isEqualTo(0.25);
    }

    @Test
    void aReplicaThatCrashesLosesWhatItHad() {
        view.on(scheduler(0, 3, 1));
        view.on(cache(0, new KvBlockCounts(100, 30, 50), PrefixCacheStats.NONE));
        view.onStates(List.of(ReplicaState.DOWN));

        assertThat(snapshot().get("replicas").get(0)).hasToString("""
                {"state":"down","running":0,"waiting":0,"tokensPerStep":0,\
                "kv":{"total":0,"used":0,"cached":0,"free":0}}""");
    }

    /** 3 GB in 2 s, and nothing after that. */
    @Test
    void cardsHaveRoleTiersAndSpeed_whereThereAreAny() {
        var pd = new LiveView(1, replica -> new LiveReplica.Kind("decode", 100));
        var reads = new TransferFigures(LongList.of(SECOND), LongList.of(3_000_000_000L), LongList.of(1), 0);
        var none = TransferFigures.NONE;
        var host = new TierState(KvSource.HOST, 50, new TierStats(0, 0, 0, 0, 0, 0, 20, 0, 0));
        var traffic = new KvTraffic(
                PrefixCacheStats.NONE, new TransferCounts(none, none, reads, none, none, 0, 0), List.of(host));
        pd.on(new ClusterEvent.KvCacheChanged(
                0,
                new ClusterEvent.KvCacheState(
                        0, 0, new KvBlockCounts(100, 0, 0), PrefixCacheStats.NONE, 16, List.of(), List.of(), traffic)));
        pd.sample(2 * SECOND);

        var card = Json.read(Json.write(pd.snapshot(List.of()))).get("replicas").get(0);
        assertThat(card.get("role").asText()).isEqualTo("decode");
        assertThat(card.get("tiers")).hasToString("[{\"name\":\"host\",\"used\":20,\"total\":50}]");
        assertThat(card.get("transferGbPerSecond").asDouble()).isEqualTo(1.5);

        pd.sample(3 * SECOND);
        assertThat(Json.read(Json.write(pd.snapshot(List.of())))
                        .get("replicas")
                        .get(0)
                        .has("transferGbPerSecond"))
                .isFalse();
    }

    @Test
    void prefillLegs_areNoRequests_andTheirTokensNoOutput() {
        view.on(step(0, 1, MS, List.of(record(5, Outcome.PREFILL_LEG, 1))));
        view.sample(2 * SECOND);

        // The one token that the step has sampled is that of the leg.
        var totals = snapshot().get("totals");
        assertThat(totals.get("failed").asInt()).isZero();
        assertThat(totals.get("outputTokensPerSecond").asDouble()).isZero();
        assertThat(snapshot().get("requests")).isEmpty();
    }

    @Test
    void tokensPerSecondAreOfTheLastIntervalOfVirtualTime() {
        view.on(step(
                0,
                1,
                30,
                new ClusterEvent.FirstTokens(
                        LongList.of(1),
                        LongList.of(20 * MS),
                        new PromptTokens(500, 0, Map.of()),
                        PromptTokens.NONE,
                        LongList.of()),
                LongList.of(),
                IntList.of(),
                List.of()));
        view.sample(2 * SECOND);

        var totals = snapshot().get("totals");
        // 500 and 30 tokens in 2 s
        assertThat(totals.get("promptTokensPerSecond").asDouble()).isEqualTo(250);
        assertThat(totals.get("outputTokensPerSecond").asDouble()).isEqualTo(15);

        view.sample(3 * SECOND);
        assertThat(snapshot().get("totals").get("outputTokensPerSecond").asDouble())
                .isZero();
    }

    @Test
    void percentilesCoverTenIntervalsAndAreNullWithoutValues() {
        view.on(step(0, 1, 10 * MS, List.of()));
        for (int i = 1; i <= 11; i++) {
            view.sample(i * SECOND);
        }

        var points = Json.read(Json.write(view.history()));
        assertThat(points).hasSize(11);
        assertThat(points.get(0).get("virtualSeconds").asDouble()).isEqualTo(1);
        assertThat(points.get(0).get("ttft").get("p50").isNull()).isTrue();
        // One gap of 10 ms; the histogram has three digits.
        assertThat(points.get(9).get("itl").get("p99").asDouble()).isCloseTo(0.010, within(1e-5));
        assertThat(points.get(10).get("itl").get("p99").isNull()).isTrue();
    }

    @Test
    void whileTheClockStands_thereAreNoPoints() {
        view.sample(SECOND);
        view.sample(SECOND);

        assertThat(view.history()).hasSize(1);
    }

    @Test
    void decisionsComeNewestFirst_withTheChosenReplicaAndTheBestOthers() {
        var cached = new RoutingScores.Part("cached blocks", LongList.of(0, 7, 2, 2, 9), true);
        var outstanding = new RoutingScores.Part("outstanding", LongList.of(1, 4, 3, 0, 0));
        var scores = new RoutingScores("most cached", List.of(cached, outstanding));
        view.on(new ClusterEvent.Routed(11, 0, SECOND, 100, IntList.of(0, 1), scores));
        view.on(new ClusterEvent.Routed(12, 1, 2 * SECOND, 100, IntList.of(0, 1, 2, 3), scores));

        // The last replica is not ready; among equals in cached blocks, the one with less to do is better.
        var decisions = snapshot().get("decisions");
        assertThat(decisions).hasSize(2);
        assertThat(decisions.get(0)).hasToString("""
                {"number":2,"virtualSeconds":2.0,"request":12,"replica":1,"rule":"most cached","replicas":4,\
                "candidates":[{"replica":1,"parts":{"cached blocks":7,"outstanding":4}},\
                {"replica":3,"parts":{"cached blocks":2,"outstanding":0}},\
                {"replica":2,"parts":{"cached blocks":2,"outstanding":3}},\
                {"replica":0,"parts":{"cached blocks":0,"outstanding":1}}]}""");
    }

    @Test
    void requestsThatEndedAreLanes() {
        var completed = record(5, Outcome.COMPLETED, 10);
        view.on(step(0, 1, MS, List.of(completed)));
        view.on(new ClusterEvent.RequestEnded(record(4, Outcome.FAILED, 0)));

        var root = snapshot();
        assertThat(root.get("totals").get("finished").asInt()).isEqualTo(1);
        assertThat(root.get("totals").get("failed").asInt()).isEqualTo(1);
        assertThat(root.get("requests")).hasSize(2);
        assertThat(root.get("requests").get(0).get("state").asText()).isEqualTo("failed");
        assertThat(root.get("requests").get(0).get("firstToken").isNull()).isTrue();
        assertThat(root.get("requests").get(1)).hasToString("""
                {"id":5,"replica":0,"state":"completed","promptTokens":64,"cachedTokens":16,"outputTokens":10,\
                "arrival":1.0,"scheduled":1.25,"firstToken":1.5,"end":2.0}""");
    }

    @Test
    void nothingGrowsForEver() {
        var manyReplicas = LongList.of(IntStream.range(0, 64).mapToLong(i -> i).toArray());
        var all = new IntImmutableList(IntStream.range(0, 64).toArray());
        var scores = new RoutingScores("any", List.of(new RoutingScores.Part("outstanding", manyReplicas)));
        for (int i = 0; i < 1000; i++) {
            view.on(new ClusterEvent.Routed(i, 63, i, 100, all, scores));
            view.on(step(i % 64, 1, MS, List.of(record(i, Outcome.COMPLETED, 10))));
            view.sample(i * SECOND);
        }

        var root = snapshot();
        assertThat(root.get("replicas")).hasSize(64);
        assertThat(root.get("decisions")).hasSize(20);
        assertThat(root.get("decisions").get(0).get("candidates")).hasSize(6);
        assertThat(root.get("requests")).hasSize(24);
        assertThat(root.get("latency")).hasSize(8);
        assertThat(view.history()).hasSize(300);
        assertThat(root.get("totals").get("finished").asInt()).isEqualTo(1000);
    }

    private JsonNode snapshot() {
        return Json.read(Json.write(view.snapshot(List.of())));
    }

    private static ClusterEvent scheduler(int replica, int numRunning, int numWaiting) {
        return new ClusterEvent.LoadChanged(
                replica, new ClusterEvent.EngineLoad(numRunning, numWaiting, 0, 0, 0, AdapterUse.NONE, List.of()));
    }

    private static ClusterEvent cache(int replica, KvBlockCounts blocks, PrefixCacheStats lookups) {
        return new ClusterEvent.KvCacheChanged(
                replica, new ClusterEvent.KvCacheState(0, 0, blocks, lookups, 16, List.of(), List.of(), null));
    }

    /** A step with one gap between tokens. */
    private static ClusterEvent step(int replica, int numTokens, long gapNanos, List<RequestRecord> ended) {
        var gaps = LongList.of(gapNanos);
        return step(replica, numTokens, 1, ClusterEvent.FirstTokens.NONE, gaps, IntList.of(1), ended);
    }

    private static ClusterEvent step(
            int replica,
            int numTokens,
            int numSampled,
            ClusterEvent.FirstTokens first,
            LongList gapNanos,
            IntList gapCounts,
            List<RequestRecord> ended) {
        return ClusterEventStepEndedBuilder.builder()
                .replicaIndex(replica)
                .endNanos(SECOND)
                .numRequests(1)
                .numTokens(numTokens)
                .numSampled(numSampled)
                .drafts(DraftCounts.NONE)
                .gapNanos(gapNanos)
                .gapCounts(gapCounts)
                .ended(ended)
                .firstTokens(first)
                .load(new ClusterEvent.EngineLoad(3, 1, 0, 0, 0, AdapterUse.NONE, List.of()))
                .own(OwnFigures.NONE)
                .build();
    }

    /** Arrives at 1 s, is scheduled at 1.25 s, has its first token at 1.5 s, and ends at 2 s. */
    private static RequestRecord record(long id, Outcome outcome, int numOutputTokens) {
        long quarter = SECOND / 4;
        return RequestRecordBuilder.builder()
                .requestId(id)
                .replicaIndex(outcome == Outcome.COMPLETED ? 0 : RequestRecord.NO_REPLICA)
                .outcome(outcome)
                .arrivalNanos(SECOND)
                .queuedNanos(SECOND)
                .scheduledNanos(SECOND + quarter)
                .firstTokenNanos(SECOND + 2 * quarter)
                .lastTokenNanos(2 * SECOND)
                .endNanos(2 * SECOND)
                .numPromptTokens(64)
                .numCachedTokens(16)
                .numOutputTokens(numOutputTokens)
                .turn(SessionTurn.NONE)
                .events(PrefixCacheEvents.NONE)
                .tokenNanos(LongLists.EMPTY_LIST)
                .build();
    }
}
