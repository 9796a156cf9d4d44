package understudy.routing.policy;

import static org.assertj.core.api.Assertions.assertThat;

import it.unimi.dsi.fastutil.longs.LongList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import understudy.engine.Request;
import understudy.routing.ClusterView;
import understudy.routing.LoadReport;
import understudy.routing.PrefillEstimate;
import understudy.routing.ReplicaTraits;
import understudy.routing.RoutingFixture;
import understudy.routing.RoutingPolicy;
import understudy.routing.RoutingScores.Part;
import understudy.routing.Signal;

/** Policies that look at tokens under way and at load reports, and those that draw. */
final class LoadPoliciesTest {
    private static final Request REQUEST = RoutingFixture.request(0, 90_000, 20);

    private final ClusterView view = RoutingFixture.view(3);

    @Test
    void random_drawsFromThoseThatTakeRequests() {
        var policy = RoutingFixture.policy("random", "");
        view.setReady(1, false);
        var counts = new int[3];

        for (int i = 0; i < 1_000; i++) {
            counts[policy.choose(REQUEST, view)]++;
        }

        // 500 each on average; the standard deviation is sqrt(1,000 x 0.5 x 0.5) = 16, and four of them are 63.
        assertThat(counts[0]).isBetween(437, 563);
        assertThat(counts[1]).isZero();
    }

    @Test
    void leastTokens_countsPromptTokensUnderWay() {
        var policy = RoutingFixture.policy("least-tokens", "");
        // One request of 300 tokens at replica 0, two of 100 at 1, two of 120 at 2.
        send(0, 1, 300);
        send(1, 2, 100);
        send(1, 3, 100);
        send(2, 4, 120);
        send(2, 5, 120);

        assertThat(policy.choose(REQUEST, view)).isEqualTo(1);
        assertThat(policy.explain(view).parts())
                .containsExactly(
                        new Part("prompt tokens", LongList.of(300, 200, 240)),
                        new Part("outstanding", LongList.of(1, 2, 2)));
        view.onEnded(4);
        assertThat(policy.choose(REQUEST, view)).as("120 at replica 2").isEqualTo(2);
    }

    @Test
    void leastTokens_breaksTiesByRequests() {
        var policy = RoutingFixture.policy("least-tokens", "");
        send(0, 1, 100);
        send(0, 2, 100);
        send(1, 3, 200);
        send(2, 4, 201);

        assertThat(policy.choose(REQUEST, view)).isEqualTo(1);
    }

    @Test
    void leastTokens_areInRelationToTheCapacity() {
        var policy = RoutingFixture.policy("least-tokens", "");
        var unequal = new ClusterView();
        unequal.addReplica();
        unequal.addReplica(new ReplicaTraits("", 2, 1, PrefillEstimate.perToken(0)));
        unequal.onSent(0, RoutingFixture.request(1, 0, 60), 0);
        unequal.onSent(1, RoutingFixture.request(2, 0, 100), 0);

        // 60 / 1 is more than 100 / 2.
        assertThat(policy.choose(REQUEST, unequal)).isEqualTo(1);
    }

    @Test
    void powerOfTwo_neverTakesTheOneWithMostTokens() {
        var policy = RoutingFixture.policy("power-of-two", "");
        send(0, 1, 10);
        send(1, 2, 20);
        var counts = new int[3];

        for (int i = 0; i < 900; i++) {
            int chosen = policy.choose(REQUEST, view);
            counts[chosen]++;
            assertThat(policy.explain(view).ranked(view.readyReplicas()).getInt(0))
                    .isEqualTo(chosen);
        }

        // Replica 2 has no tokens: it wins two of the three pairs, 600 of 900 times; replica 0 wins the third. The
        // standard deviation is sqrt(900 x 2/3 x 1/3) = 14, and four of them are 57.
        assertThat(counts[1]).isZero();
        assertThat(counts[2]).isBetween(543, 657);
    }

    @Test
    void powerOfTwo_takesTheFirstOfEquals_andTheOnlyOne() {
        var policy = RoutingFixture.policy("power-of-two", "");
        var counts = new int[3];
        for (int i = 0; i < 900; i++) {
            int chosen = policy.choose(REQUEST, view);
            counts[chosen]++;
            assertThat(policy.explain(view).ranked(view.readyReplicas()).getInt(0))
                    .isEqualTo(chosen);
        }

        // Each is drawn first 300 times; the standard deviation is 14 again.
        assertThat(IntStream.of(counts)).allMatch(count -> count >= 243 && count <= 357);
        view.setReady(0, false);
        view.setReady(2, false);
        assertThat(policy.choose(REQUEST, view)).isEqualTo(1);
    }

    @Test
    void drawnReplicas_dependOnTheSeedAlone() {
        assertThat(tenChoices(RoutingFixture.policy("random", "")))
                .isEqualTo(tenChoices(RoutingFixture.policy("random", "")))
                .isNotEqualTo(tenChoices(RoutingFixture.policy("power-of-two", "")));
    }

    @Test
    void sessionAffinity_leavesASaturatedReplica_andStaysAtTheNewOne() {
        var policy = RoutingFixture.policy("session-affinity", "max-waiting = 5, max-kv-cache-usage = 0.8");
        assertThat(policy.choose(turn(), view)).isZero();
        view.onDispatched(0);

        view.onReport(0, new LoadReport(0, 9, 5, 0.8, 0));
        assertThat(policy.choose(turn(), view))
                .as("5 are not more than 5, nor 0.8 than 0.8")
                .isZero();
        view.onReport(0, new LoadReport(0, 9, 6, 0.1, 0));
        assertThat(policy.choose(turn(), view)).isEqualTo(1);
        assertThat(policy.explain(view).rule()).isEqualTo("saturated: fewest outstanding");
        view.onReport(0, LoadReport.NONE);
        assertThat(policy.choose(turn(), view)).as("the new one").isEqualTo(1);
        view.onReport(1, new LoadReport(0, 9, 0, 0.81, 0));
        view.onDispatched(1);
        assertThat(policy.choose(turn(), view)).as("the KV cache counts, too").isEqualTo(2);
    }

    @Test
    void sessionAffinity_isNeverSaturatedByDefault() {
        var policy = RoutingFixture.policy("session-affinity", "");
        policy.choose(turn(), view);
        view.onDispatched(0);
        view.onReport(0, new LoadReport(0, 9, 1_000_000, 1, 0));

        assertThat(policy.choose(turn(), view)).isZero();
    }

    @Test
    void sessionAffinity_wantsLoadReportsOnlyIfItLooksAtThem() {
        assertThat(new SessionAffinity.Options(Double.POSITIVE_INFINITY, 1).signals())
                .isEmpty();
        assertThat(new SessionAffinity.Options(5, 1).signals()).containsExactly(Signal.LOAD_REPORTS);
        assertThat(new SessionAffinity.Options(Double.POSITIVE_INFINITY, 0.8).signals())
                .hasSize(1);
    }

    private List<Integer> tenChoices(RoutingPolicy policy) {
        return IntStream.range(0, 10)
                .mapToObj(i -> policy.choose(REQUEST, view))
                .toList();
    }

    private static Request turn() {
        return RoutingFixture.turn(7, 0, 0, 20);
    }

    private void send(int replica, long id, int numTokens) {
        view.onDispatched(replica);
        view.onSent(replica, RoutingFixture.request(id, 0, numTokens), 0);
    }
}
