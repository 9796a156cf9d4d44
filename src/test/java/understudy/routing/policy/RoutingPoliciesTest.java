package understudy.routing.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import example.FillFirst;
import it.unimi.dsi.fastutil.longs.LongList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.engine.Request;
import understudy.prompt.Xxh3BlockHasher;
import understudy.routing.ClusterView;
import understudy.routing.PolicySettings;
import understudy.routing.PrefillEstimate;
import understudy.routing.ReplicaTraits;
import understudy.routing.RoutingFixture;
import understudy.routing.RoutingPolicy;
import understudy.routing.RoutingPolicyFactory;
import understudy.routing.RoutingPolicyProvider;
import understudy.routing.RoutingScores;
import understudy.workload.RandomStreams;

final class RoutingPoliciesTest {
    private static final Request COLD = RoutingFixture.request(0, 90_000, 20);
    private static final SessionAffinity.Options NEVER_SATURATED =
            new SessionAffinity.Options(Double.POSITIVE_INFINITY, 1);

    @Test
    void roundRobin_goesRound() {
        var policy = new RoundRobin();
        var view = RoutingFixture.view(3);

        assertThat(new int[] {
                    policy.choose(COLD, view),
                    policy.choose(COLD, view),
                    policy.choose(COLD, view),
                    policy.choose(COLD, view)
                })
                .containsExactly(0, 1, 2, 0);
    }

    @Test
    void leastOutstanding_countsWhatWasSentAndHasNotEnded() {
        var view = RoutingFixture.view(3);
        dispatch(view, 0, 5);
        dispatch(view, 1, 9);
        dispatch(view, 2, 6);
        view.onEnded(1, 6);

        // 5, 9 - 6 = 3, and 6 are outstanding.
        assertThat(new LeastOutstanding().choose(COLD, view)).isEqualTo(1);
    }

    /** A replica of twice the capacity has fewer in relation to that with 9 than another one with 5: 4.5. */
    @Test
    void leastOutstanding_countsInRelationToCapacity() {
        var view = new ClusterView();
        view.addReplica();
        view.addReplica(new ReplicaTraits("", 2, 1, PrefillEstimate.perToken(0)));
        dispatch(view, 0, 5);
        dispatch(view, 1, 9);

        assertThat(new LeastOutstanding().choose(COLD, view)).isEqualTo(1);
        dispatch(view, 1, 2);
        // 11 / 2 = 5.5 is more than 5.
        assertThat(new LeastOutstanding().choose(COLD, view)).isZero();
    }

    @Test
    void leastOutstanding_breaksTiesByWhatWasSentSoFar() {
        var view = RoutingFixture.view(3);
        dispatch(view, 0, 4);
        view.onEnded(0, 4);
        dispatch(view, 1, 2);
        view.onEnded(1, 2);
        dispatch(view, 2, 3);
        view.onEnded(2, 3);

        assertThat(new LeastOutstanding().choose(COLD, view)).isEqualTo(1);
    }

    @Test
    void sessionAffinity_staysWhereTheSessionIs() {
        var policy = new SessionAffinity(NEVER_SATURATED, 8);
        var view = RoutingFixture.view(3);
        dispatch(view, 0, 2);
        dispatch(view, 1, 1);

        assertThat(policy.choose(turn(7), view)).as("a new session").isEqualTo(2);
        dispatch(view, 2, 9);
        assertThat(policy.choose(turn(7), view)).isEqualTo(2);
        assertThat(policy.explain(view).ranked(view.readyReplicas()).getInt(0)).isEqualTo(2);
        assertThat(policy.choose(turn(8), view)).as("another one").isEqualTo(1);
        assertThat(policy.choose(COLD, view)).as("outside of any").isEqualTo(1);
        assertThat(policy.explain(view).ranked(view.readyReplicas()).getInt(0)).isEqualTo(1);
    }

    @Test
    void sessionAffinity_movesWithTheSessionWhenItsReplicaIsGone() {
        var policy = new SessionAffinity(NEVER_SATURATED, 8);
        var view = RoutingFixture.view(2);
        assertThat(policy.choose(turn(7), view)).isZero();

        view.setReady(0, false);
        assertThat(policy.choose(turn(7), view)).isEqualTo(1);
        view.setReady(0, true);
        dispatch(view, 1, 5);
        assertThat(policy.choose(turn(7), view)).as("served last").isEqualTo(1);
    }

    @Test
    void sessionAffinity_forgetsTheSessionThatWasQuietLongest() {
        var policy = new SessionAffinity(NEVER_SATURATED, 2);
        var view = RoutingFixture.view(2);
        // Replica 0 gets session 7, replica 1 session 8; then 7 comes again, so that 9 displaces 8.
        dispatch(view, policy.choose(turn(7), view), 1);
        dispatch(view, policy.choose(turn(8), view), 1);
        dispatch(view, policy.choose(turn(7), view), 1);
        dispatch(view, policy.choose(turn(9), view), 9);

        dispatch(view, 0, 50);
        assertThat(policy.choose(turn(7), view)).as("remembered").isZero();
        dispatch(view, 1, 500);
        assertThat(policy.choose(turn(8), view)).as("the least loaded").isZero();
    }

    @Test
    void prefixAware_goesWhereMostBlocksAre() {
        var policy = prefixAware(0, 64);
        var view = RoutingFixture.view(3);
        dispatch(view, 2, 10);
        policy.onKvEvents(1, RoutingFixture.stored(0, 8));
        policy.onKvEvents(2, RoutingFixture.stored(0, 16));

        assertThat(policy.choose(RoutingFixture.request(0, 0, 20), view)).isEqualTo(2);
        assertThat(policy.choose(RoutingFixture.request(0, 0, 8), view))
                .as("equal overlap: the less loaded one")
                .isEqualTo(1);
        assertThat(policy.choose(COLD, view))
                .as("no overlap: the least loaded one")
                .isEqualTo(0);
    }

    @Test
    void prefixAware_doesNotHashWhatEveryReplicaTurnsAway() {
        var policy = prefixAware(0, 64);
        var view = RoutingFixture.view(3);
        policy.onKvEvents(2, RoutingFixture.stored(0, 20));

        // The policy's longest sequence has 1,000 tokens.
        assertThat(policy.choose(RoutingFixture.request(0, 0, 1_000), view)).isEqualTo(2);
        assertThat(policy.choose(RoutingFixture.request(0, 0, 1_001), view)).isEqualTo(0);
    }

    @Test
    void prefixAware_wantsMoreThanItsThreshold() {
        var policy = prefixAware(0.4, 64);
        var view = RoutingFixture.view(2);
        policy.onKvEvents(1, RoutingFixture.stored(0, 8));

        // 2 of 5 blocks are exactly 0.4, which is not enough; 2 of 4 are.
        assertThat(policy.choose(RoutingFixture.request(0, 0, 20), view)).isEqualTo(0);
        assertThat(policy.choose(RoutingFixture.request(0, 0, 16), view)).isEqualTo(1);
    }

    @Test
    void prefixAware_ignoresTheCacheWhenLoadsAreOutOfBalance() {
        var policy = prefixAware(0, 64);
        var view = RoutingFixture.view(2);
        policy.onKvEvents(1, RoutingFixture.stored(0, 20));
        dispatch(view, 1, 64);

        assertThat(policy.choose(RoutingFixture.request(0, 0, 20), view))
                .as("64 is not more than 64")
                .isEqualTo(1);
        dispatch(view, 1, 1);
        assertThat(policy.choose(RoutingFixture.request(0, 0, 20), view))
                .as("65 > 64 and 65 > 0")
                .isEqualTo(0);
        // 140 - 100 = 40 is not more than 64; 240 - 140 = 100 is, and 240 > 1.5 * 140 = 210.
        dispatch(view, 0, 100);
        dispatch(view, 1, 75);
        assertThat(policy.choose(RoutingFixture.request(0, 0, 20), view)).isEqualTo(1);
        dispatch(view, 0, 40);
        dispatch(view, 1, 100);
        assertThat(policy.choose(RoutingFixture.request(0, 0, 20), view)).isEqualTo(0);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "round-robin | names its routing policy \"round-robin\", which is the name of another one",
                "fill-first | names its routing policy \"fill-first\", which is the name of another one",
                "FillLast | names its routing policy \"FillLast\", which must be in lower case and with hyphens",
                "fill_last | which must be in lower case and with hyphens",
                "fill. | which must be in lower case and with hyphens",
                "'' | which must be in lower case and with hyphens"
            })
    void nameOfAUsersPolicy_isLikeOthersAndItsOwn(String name, String problem) {
        var providers = List.<RoutingPolicyProvider>of(new FillFirst(), new Named(name));

        assertThatThrownBy(() -> RoutingPolicies.byName(providers))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith(Named.class.getName())
                .hasMessageContaining(problem);
    }

    private record Named(String name) implements RoutingPolicyProvider {
        @Override
        public RoutingPolicyFactory read(PolicySettings settings) {
            throw new AssertionError(settings);
        }
    }

    @Test
    void policiesOfUsers_comeAfterOurs() {
        assertThat(RoutingPolicies.byName().keySet())
                .startsWith("round-robin", "least-outstanding")
                .containsAll(RoutingPolicies.builtInNames())
                .endsWith("fill-first");
    }

    @Test
    void policies_sayWhyTheyChose() {
        var view = RoutingFixture.view(2);
        dispatch(view, 1, 3);
        var outstanding = new RoutingScores.Part("outstanding", LongList.of(0, 3));

        assertThat(new RoundRobin().explain(view)).isEqualTo(new RoutingScores("next in turn", List.of(outstanding)));
        assertThat(new LeastOutstanding().explain(view))
                .isEqualTo(new RoutingScores("fewest outstanding", List.of(outstanding)));
    }

    @Test
    void prefixAware_saysWhichRuleDecided() {
        var policy = prefixAware(0.4, 64);
        var view = RoutingFixture.view(2);
        policy.onKvEvents(1, RoutingFixture.stored(0, 8));

        policy.choose(RoutingFixture.request(0, 0, 16), view);
        // 8 tokens are 2 blocks of 4.
        assertThat(policy.explain(view))
                .isEqualTo(new RoutingScores(
                        "most cached",
                        List.of(
                                new RoutingScores.Part("cached blocks", LongList.of(0, 2), true),
                                new RoutingScores.Part("outstanding", LongList.of(0, 0)))));
        policy.choose(RoutingFixture.request(0, 0, 20), view);
        assertThat(policy.explain(view).rule()).isEqualTo("too little cached: fewest outstanding");
        dispatch(view, 1, 65);
        policy.choose(RoutingFixture.request(0, 0, 16), view);
        assertThat(policy.explain(view).rule()).isEqualTo("out of balance: fewest outstanding");
    }

    private static RoutingPolicy prefixAware(double threshold, long absThreshold) {
        return PrefixAware.factory(new PrefixAware.Options(threshold, new LoadBalance(absThreshold, 1.5)))
                .create(new RoutingPolicyFactory.Cluster(new Xxh3BlockHasher(4), 3, 1_000, new RandomStreams(1)));
    }

    private static Request turn(long sessionId) {
        return RoutingFixture.turn(sessionId, 0, 0, 20);
    }

    private static void dispatch(ClusterView view, int replica, int count) {
        for (int i = 0; i < count; i++) {
            view.onDispatched(replica);
        }
    }
}
