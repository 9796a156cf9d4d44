package understudy.routing.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import understudy.engine.Request;
import understudy.prompt.Xxh3BlockHasher;
import understudy.routing.ClusterView;
import understudy.routing.RoutingFixture;
import understudy.routing.RoutingPolicy;
import understudy.routing.RoutingPolicyFactory;
import understudy.routing.RoutingScores;
import understudy.routing.Signal;
import understudy.workload.RandomStreams;

/** Costs of blocks of 4 tokens. */
final class KvAwareTest {
    private static final long SECOND = 1_000_000_000;

    /** 20 tokens are 5 blocks. */
    private static final Request REQUEST = RoutingFixture.request(0, 0, 20);

    @Test
    void cost_isThatOfDynamosExample() {
        var options = options(0, 0, 0, true);

        // 10 blocks to compute on each; 2, 5 and 8 are cached there, and decodes hold 10, 5 and 9:
        // 10 - 2 + 10 = 18, 10 - 5 + 5 = 10, 10 - 8 + 9 = 11.
        assertThat(options.cost(10, 2, 0, 10, 0)).isEqualTo(18);
        assertThat(options.cost(10, 5, 0, 5, 0)).isEqualTo(10);
        assertThat(options.cost(10, 8, 0, 9, 0)).isEqualTo(11);
    }

    @Test
    void cost_countsRequestsAndScalesPrefills() {
        // 2 * (10 - 5) + 5 + 3 * 4 = 27.
        var scaled = new KvAware.Options(1, 0, 2, 3, 0, true, 0);
        assertThat(scaled.cost(10, 5, 0, 5, 4)).isEqualTo(27);
        // Cached blocks never make it less than 0: 0 + 5.
        assertThat(scaled.cost(3, 5, 0, 5, 0)).isEqualTo(5);
        // Half of what is cached counts: 10 - 0.5 * 4 + 5 = 13.
        assertThat(new KvAware.Options(0.5, 0, 1, 0, 0, true, 0).cost(10, 4, 0, 5, 0))
                .isEqualTo(13);
    }

    @Test
    void prefillsCount_untilTheirFirstToken() {
        var policy = policy(options(0, 0, 0, true));
        var view = RoutingFixture.view(2);
        policy.onKvEvents(0, RoutingFixture.stored(0, 16));
        view.onSent(0, RoutingFixture.request(7, 500, 12), 0);

        // Replica 0: (12 + 20) / 4 - 4 + (12 + 20) / 4 = 12; replica 1: 5 + 5 = 10.
        assertThat(policy.choose(REQUEST, view)).isEqualTo(1);
        assertThat(part(policy, view, 0)).isEqualTo(List.of(12_000L, 10_000L));
        assertThat(policy.cachedTokens(0)).isEqualTo(16);
        // 5 - 4 + 8 = 9; then 5 - 4 + 5 = 6.
        view.onFirstToken(7);
        assertThat(policy.choose(REQUEST, view)).isZero();
        assertThat(part(policy, view, 0)).isEqualTo(List.of(9_000L, 10_000L));
        view.onEnded(7);
        policy.choose(REQUEST, view);
        assertThat(part(policy, view, 0)).isEqualTo(List.of(6_000L, 10_000L));
    }

    @Test
    void credit_decaysWithThePrefillsAboveTheIdlestReplicas() {
        var policy = policy(options(1, 0, 0, true));
        var view = RoutingFixture.view(2);
        policy.onKvEvents(0, RoutingFixture.stored(0, 16));
        view.onSent(0, RoutingFixture.request(7, 500, 28), 0);
        view.onSent(1, RoutingFixture.request(8, 600, 8), 0);

        policy.choose(REQUEST, view);

        // 28 - 8 = 20 tokens above the idlest are one request of 20, which halves the credit: 12 - 4 / 2 + 12 = 22.
        // Replica 1: 7 + 7.
        assertThat(part(policy, view, 0)).isEqualTo(List.of(22_000L, 14_000L));
    }

    @Test
    void requestWeight_countsWhatIsOutstanding() {
        var policy = policy(options(0, 2, 0, true));
        var view = RoutingFixture.view(2);
        view.onDispatched(0);

        policy.choose(REQUEST, view);

        // 5 + 5, and 2 for the request.
        assertThat(part(policy, view, 0)).isEqualTo(List.of(12_000L, 10_000L));
    }

    @Test
    void withoutEvents_whatWasSentCountsAsCachedForAWhile() {
        var policy = policy(options(0, 0, 0, false));
        var view = RoutingFixture.view(2);
        assertThat(policy.choose(REQUEST, view)).isZero();
        view.onDispatched(0);

        view.setNow(120 * SECOND - 1);
        assertThat(policy.choose(REQUEST, view)).as("5 blocks cached").isZero();
        view.setNow(240 * SECOND - 1);
        assertThat(policy.choose(REQUEST, view))
                .as("forgotten, and less loaded")
                .isEqualTo(1);
    }

    @Test
    void temperature_drawsByTheExponentialOfTheCost() {
        var policy = policy(options(0, 0, 0.5, true));
        var view = RoutingFixture.view(3);
        view.onSent(1, RoutingFixture.request(7, 500, 20), 0);
        view.onSent(2, RoutingFixture.request(8, 600, 10), 0);
        int[] counts = new int[3];

        IntStream.range(0, 20_000).forEach(i -> counts[policy.choose(REQUEST, view)]++);

        // Scaled costs 0, 1 and 0.5 have weights 1, exp(-2) = 0.135 and exp(-1) = 0.368, of 1.503 together.
        assertThat(counts[0] / 20_000.0).isCloseTo(0.665, within(0.02));
        assertThat(counts[1] / 20_000.0).isCloseTo(0.090, within(0.02));
        assertThat(counts[2] / 20_000.0).isCloseTo(0.245, within(0.02));
    }

    @Test
    void temperature_withEqualCostsAllAreAsLikely() {
        var policy = policy(options(0, 0, 0.5, true));
        var view = RoutingFixture.view(2);
        int[] counts = new int[2];

        IntStream.range(0, 10_000).forEach(i -> counts[policy.choose(REQUEST, view)]++);

        assertThat(counts[0] / 10_000.0).isCloseTo(0.5, within(0.02));
    }

    @Test
    void settings_haveDynamosNamesAndDefaults() {
        assertThat(KvAware.Options.read(RoutingFixture.settings("kv-aware", "")))
                .isEqualTo(new KvAware.Options(1, 0, 1, 0, 0, true, 120 * SECOND));
        var changed = """
                overlap-score-credit = 0.5, overlap-score-credit-decay = 2, prefill-load-scale = 3
                decode-active-request-weight = 4, router-temperature = 5, use-kv-events = false, router-ttl = 6s
                """;
        assertThat(KvAware.Options.read(RoutingFixture.settings("kv-aware", changed)))
                .isEqualTo(new KvAware.Options(0.5, 2, 3, 4, 5, false, 6 * SECOND));
    }

    @Test
    void signals_haveNoEventsIfTheyAreNotUsed() {
        assertThat(KvAware.factory(options(0, 0, 0, true)).signals())
                .containsExactlyInAnyOrder(Signal.PROGRESS, Signal.KV_EVENTS);
        assertThat(KvAware.factory(options(0, 0, 0, false)).signals()).containsExactly(Signal.PROGRESS);
    }

    private static List<Long> part(RoutingPolicy policy, ClusterView view, int index) {
        RoutingScores scores = policy.explain(view);
        return scores.parts().get(index).byReplica();
    }

    private static KvAware.Options options(
            double decay, double requestWeight, double temperature, boolean usesKvEvents) {
        return new KvAware.Options(1, decay, 1, requestWeight, temperature, usesKvEvents, 120 * SECOND);
    }

    private static RoutingPolicy policy(KvAware.Options options) {
        return KvAware.factory(options)
                .create(new RoutingPolicyFactory.Cluster(new Xxh3BlockHasher(4), 3, 1_000, new RandomStreams(1)));
    }
}
