package understudy.routing.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import it.unimi.dsi.fastutil.longs.LongArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import understudy.engine.Request;
import understudy.engine.lora.AdapterUse;
import understudy.kvcache.KvEvent;
import understudy.prompt.Xxh3BlockHasher;
import understudy.routing.ClusterView;
import understudy.routing.LoadReport;
import understudy.routing.RoutingFixture;
import understudy.routing.RoutingPolicy;
import understudy.routing.RoutingPolicyFactory;
import understudy.routing.Signal;
import understudy.workload.RandomStreams;

/** Scores in thousandths, of prompts in blocks of 4 tokens. */
final class WeightedScorersTest {
    private static final Request REQUEST = RoutingFixture.request(0, 0, 20);

    private final ClusterView view = RoutingFixture.view(3);

    @Test
    void queue_isFromTheLongestToTheShortest() {
        var policy = policy("queue");
        assertThat(scores(policy)).as("all equal").isEqualTo(List.of(1_000L, 1_000L, 1_000L));

        reportWaiting(0, 5, 10);

        // (10 - 0) / 10, (10 - 5) / 10, 0.
        assertThat(scores(policy)).isEqualTo(List.of(1_000L, 500L, 0L));
    }

    @Test
    void runningRequests_areAsTheQueue() {
        view.onReport(0, new LoadReport(0, 8, 0, 0, 0));
        view.onReport(1, new LoadReport(0, 4, 9, 0, 0));
        view.onReport(2, new LoadReport(0, 7, 0, 0, 0));

        // (8 - 8) / 4, (8 - 4) / 4, (8 - 7) / 4.
        assertThat(scores(policy("running-requests"))).isEqualTo(List.of(0L, 1_000L, 250L));
    }

    @Test
    void kvCacheUtilization_isWhatIsFree() {
        reportUsage(0, 0.25, 1);

        assertThat(scores(policy("kv-cache-utilization"))).isEqualTo(List.of(1_000L, 750L, 0L));
    }

    @Test
    void loadAware_fallsFromAHalfToNothingAt128() {
        reportWaiting(0, 64, 200);

        // 0.5, 0.5 * (1 - 64 / 128), 0.5 * (1 - 128 / 128).
        assertThat(scores(policy("load-aware"))).isEqualTo(List.of(500L, 250L, 0L));
    }

    /** Two slots each: one replica runs a, one has a free slot, one is full and a waits there. */
    @Test
    void loraAffinity_prefersTheAdapterThatRuns() {
        reportAdapters(0, List.of("b", "c"), List.of("a"));
        reportAdapters(1, List.of("a", "b"), List.of());
        reportAdapters(2, List.of("b"), List.of());
        var policy = policy("lora-affinity");

        policy.choose(withLora("a"), view);
        assertThat(part(policy, 2)).isEqualTo(List.of(600L, 1_000L, 800L));
        policy.choose(withLora("d"), view);
        assertThat(part(policy, 2)).isEqualTo(List.of(0L, 0L, 800L));
    }

    private void reportAdapters(int replica, List<String> running, List<String> waiting) {
        view.onReport(replica, new LoadReport(0, 0, 0, 0, 0, new AdapterUse(2, running, waiting)));
    }

    private static Request withLora(String name) {
        var request = RoutingFixture.request(0, 0, 20);
        return request.withPrompt(request.prompt().withLora(name));
    }

    @Test
    void activeRequest_isComparedWithTheBusiest() {
        assertThat(scores(policy("active-request"))).isEqualTo(List.of(1_000L, 1_000L, 1_000L));
        dispatch(1, 3);
        dispatch(2, 4);

        // None in flight is 1; (4 - 3) / 4; (4 - 4) / 4.
        assertThat(scores(policy("active-request"))).isEqualTo(List.of(1_000L, 250L, 0L));
    }

    @Test
    void tokenLoad_isShareOfFourMillionTokens() {
        view.onSent(1, RoutingFixture.request(7, 0, 1 << 20), 0);

        // 2^20 of 2^22 tokens are a quarter.
        assertThat(scores(policy("token-load"))).isEqualTo(List.of(1_000L, 750L, 1_000L));
    }

    @Test
    void sessionAffinity_isWhereTheSessionWas() {
        var policy = policy("session-affinity");
        dispatch(0, 1);
        dispatch(2, 1);
        assertThat(policy.choose(RoutingFixture.turn(3, 0, 0, 20), view)).isEqualTo(1);
        dispatch(1, 9);

        assertThat(policy.choose(RoutingFixture.turn(3, 1, 0, 20), view)).isEqualTo(1);
        assertThat(part(policy, 2)).isEqualTo(List.of(0L, 1_000L, 0L));
        assertThat(policy.choose(RoutingFixture.turn(4, 2, 0, 20), view)).isZero();
    }

    @Test
    void noHitLru_takesTurnsWithPromptsThatAreNotCached() {
        var policy = policy("no-hit-lru");

        // Unused ones come first, by their index, then the one that was used longest ago: 1 - rank / 2.
        assertThat(scoresOf(policy, 0)).isEqualTo(List.of(1_000L, 500L, 0L));
        assertThat(scoresOf(policy, 1_000)).isEqualTo(List.of(0L, 1_000L, 500L));
        assertThat(scoresOf(policy, 2_000)).isEqualTo(List.of(500L, 0L, 1_000L));
        assertThat(scoresOf(policy, 3_000)).isEqualTo(List.of(1_000L, 500L, 0L));
        // The first prompt is assumed to be cached now: 0.5 for all, and nobody's turn.
        assertThat(scoresOf(policy, 0)).isEqualTo(List.of(500L, 500L, 500L));
        assertThat(scoresOf(policy, 4_000)).isEqualTo(List.of(0L, 1_000L, 500L));
        scoresOf(policy, 0);
        assertThat(scoresOf(policy, 5_000)).isEqualTo(List.of(500L, 0L, 1_000L));
    }

    @Test
    void noHitLru_countsReplicasThatAreNotThere() {
        var policy = policy("no-hit-lru");
        scoresOf(policy, 0);
        scoresOf(policy, 1_000);
        view.setReady(0, false);

        // Replica 0 is used longest ago, so 1 is the second after the unused 2: 1 - 2 / 1 is not below 0.
        assertThat(scoresOf(policy, 2_000)).isEqualTo(List.of(0L, 0L, 1_000L));
    }

    @Test
    void prefixCache_isTheShareOfWhatWasSent() {
        var policy = policy("prefix-cache");
        policy.choose(RoutingFixture.request(0, 0, 16), view);

        // 16 of 20 tokens are 4 of 5 blocks.
        assertThat(scoresOf(policy, 0)).isEqualTo(List.of(800L, 0L, 0L));
        assertThat(policy.cachedTokens(0)).isEqualTo(16);
    }

    @Test
    void prefixCache_looksAt256Blocks() {
        var policy = policy("prefix-cache");
        policy.choose(RoutingFixture.request(0, 0, 4 * 256), view);

        policy.choose(RoutingFixture.request(1, 0, 4 * 300), view);

        assertThat(part(policy, 2)).isEqualTo(List.of(1_000L, 0L, 0L));
    }

    @Test
    void precisePrefixCache_isTheShareByKvEvents() {
        var policy = policy("precise-prefix-cache");
        policy.onKvEvents(1, RoutingFixture.stored(0, 16));

        assertThat(scores(policy)).isEqualTo(List.of(0L, 800L, 0L));
        assertThat(policy.cachedTokens(1)).isEqualTo(16);
    }

    /** 16 of 20 tokens are 4 of 5 blocks: replica 0 has 2 of them in its host's memory, replica 1 all four, replica 2 none. */
    @Test
    void precisePrefixCache_countsBlocksOfTheHostByTheirWeight() {
        var policy = policy(Map.of("precise-prefix-cache", 1.0), 0.4);
        var keys = new LongArrayList(RoutingFixture.hashes(0, 16));
        policy.onKvEvents(0, RoutingFixture.stored(0, 8));
        policy.onKvEvents(0, List.of(new KvEvent.HostStored(keys)));
        policy.onKvEvents(1, List.of(new KvEvent.HostStored(keys)));

        // (2 + 0.4 * 2) / 5, 0.4 * 4 / 5, 0.
        assertThat(scores(policy)).isEqualTo(List.of(560L, 320L, 0L));
        assertThat(policy.cachedTokens(1)).as("whatever they count").isEqualTo(16);
    }

    @Test
    void weights_decideBetweenScorers() {
        reportWaiting(10, 0, 0);

        // Replica 0 has 2 of 5 blocks: 2 * 0.4 is less than the 1 of a short queue, 3 * 0.4 is more.
        assertThat(chosen(Map.of("precise-prefix-cache", 2.0, "queue", 1.0))).isEqualTo(1);
        assertThat(chosen(Map.of("precise-prefix-cache", 3.0, "queue", 1.0))).isZero();
    }

    private int chosen(Map<String, Double> weights) {
        var policy = policy(weights, false, 0, 0);
        policy.onKvEvents(0, RoutingFixture.stored(0, 8));
        return policy.choose(REQUEST, view);
    }

    @Test
    void affinityFilter_keepsReplicasWithEnoughOfThePrompt() {
        var policy = affine(0);

        // 4 of 5 blocks are 0.8, 4 of 6 are not.
        assertThat(policy.choose(REQUEST, view)).isEqualTo(1);
        assertThat(part(policy, 0)).isEqualTo(List.of(-1_000L, 1L, -1_000L));
        assertThat(policy.choose(RoutingFixture.request(1, 0, 24), view)).isZero();
    }

    @Test
    void affinityFilter_leavesAllToExplore() {
        var policy = affine(0.1);

        long explored = IntStream.range(0, 10_000)
                .filter(i -> policy.choose(REQUEST, view) == 0)
                .count();

        assertThat(explored / 10_000.0).isCloseTo(0.1, within(0.02));
    }

    @Test
    void affinityFilter_aloneLooksAtWhatWasSent() {
        var policy = policy(Map.of("active-request", 1.0), false, 0.8, 0);
        assertThat(policy.choose(REQUEST, view)).isZero();
        dispatch(0, 4);

        assertThat(policy.choose(REQUEST, view)).isZero();
        assertThat(policy.choose(RoutingFixture.request(1, 100, 20), view)).isEqualTo(1);
    }

    /** Replica 1 has 16 tokens, and 4 requests in flight; that counts a thousand times as much. */
    private RoutingPolicy affine(double exploration) {
        dispatch(1, 4);
        var policy = policy(Map.of("active-request", 1.0, "precise-prefix-cache", 0.001), false, 0.8, exploration);
        policy.onKvEvents(1, RoutingFixture.stored(0, 16));
        return policy;
    }

    @Test
    void weightedRandom_isInProportionToTheScores() {
        reportUsage(0.25, 0.75, 1);

        // Scores 0.75, 0.25 and 0.
        assertThat(shares(policy(Map.of("kv-cache-utilization", 1.0), true, 0, 0)))
                .usingComparatorWithPrecision(0.02)
                .containsExactly(0.75, 0.25, 0.0);
    }

    @Test
    void weightedRandom_takesAnyIfNobodyScores() {
        reportUsage(1, 1, 1);

        assertThat(shares(policy(Map.of("kv-cache-utilization", 1.0), true, 0, 0)))
                .usingComparatorWithPrecision(0.02)
                .containsExactly(1 / 3.0, 1 / 3.0, 1 / 3.0);
    }

    @Test
    void settings_haveTheWeightsOfLlmdsSample() {
        var weights = Map.of("precise-prefix-cache", 2.0, "kv-cache-utilization", 1.0, "queue", 1.0);
        assertThat(ScorerOptions.read(RoutingFixture.settings("weighted-scorers", "")))
                .isEqualTo(options(weights, false, 0, 0.01));
        var changed = "queue = 0, picker = weighted-random, affinity-threshold = 0.8, exploration = 0.5";
        assertThat(ScorerOptions.read(RoutingFixture.settings("weighted-scorers", changed)))
                .isEqualTo(options(Map.of("precise-prefix-cache", 2.0, "kv-cache-utilization", 1.0), true, 0.8, 0.5));
    }

    @Test
    void signals_followFromTheScorers() {
        var weights = new LinkedHashMap<String, Double>();
        assertThat(options(weights, false, 0, 0).signals()).isEmpty();
        weights.put("queue", 1.0);
        assertThat(options(weights, false, 0, 0).signals()).containsExactly(Signal.LOAD_REPORTS);
        weights.put("token-load", 1.0);
        weights.put("precise-prefix-cache", 1.0);
        assertThat(options(weights, false, 0, 0).signals())
                .containsExactlyInAnyOrder(Signal.LOAD_REPORTS, Signal.PROGRESS, Signal.KV_EVENTS);
    }

    private double[] shares(RoutingPolicy policy) {
        var shares = new double[3];
        IntStream.range(0, 10_000).forEach(i -> shares[policy.choose(REQUEST, view)] += 1e-4);
        return shares;
    }

    private List<Long> scores(RoutingPolicy policy) {
        policy.choose(REQUEST, view);
        return part(policy, 2);
    }

    private List<Long> scoresOf(RoutingPolicy policy, int firstToken) {
        policy.choose(RoutingFixture.request(0, firstToken, 20), view);
        return part(policy, 2);
    }

    /** The sum, what is outstanding, and the scorers. */
    private List<Long> part(RoutingPolicy policy, int index) {
        return policy.explain(view).parts().get(index).byReplica();
    }

    private void reportWaiting(int... byReplica) {
        for (int i = 0; i < byReplica.length; i++) {
            view.onReport(i, new LoadReport(0, 0, byReplica[i], 0, 0));
        }
    }

    private void reportUsage(double... byReplica) {
        for (int i = 0; i < byReplica.length; i++) {
            view.onReport(i, new LoadReport(0, 0, 0, byReplica[i], 0));
        }
    }

    private void dispatch(int replica, int count) {
        for (int i = 0; i < count; i++) {
            view.onDispatched(replica);
        }
    }

    private static RoutingPolicy policy(String scorer) {
        return policy(Map.of(scorer, 1.0), false, 0, 0);
    }

    private static RoutingPolicy policy(
            Map<String, Double> weights, boolean isDrawn, double affinityThreshold, double exploration) {
        return policy(options(weights, isDrawn, affinityThreshold, exploration));
    }

    private static RoutingPolicy policy(Map<String, Double> weights, double hostWeight) {
        return policy(new ScorerOptions(weighted(weights), hostWeight, false, 0, 0));
    }

    private static RoutingPolicy policy(ScorerOptions options) {
        return WeightedScorers.factory(options)
                .create(new RoutingPolicyFactory.Cluster(new Xxh3BlockHasher(4), 3, 2_000, new RandomStreams(1)));
    }

    private static ScorerOptions options(
            Map<String, Double> weights, boolean isDrawn, double affinityThreshold, double exploration) {
        return new ScorerOptions(weighted(weights), 0.8, isDrawn, affinityThreshold, exploration);
    }

    private static List<ScorerOptions.Weighted> weighted(Map<String, Double> weights) {
        return Scorers.ALL.stream()
                .filter(kind -> weights.containsKey(kind.name()))
                .map(kind -> new ScorerOptions.Weighted(kind, weights.get(kind.name())))
                .toList();
    }
}
