package understudy.routing.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import understudy.engine.Request;
import understudy.prompt.Xxh3BlockHasher;
import understudy.routing.ClusterView;
import understudy.routing.LoadReport;
import understudy.routing.PrefillEstimate;
import understudy.routing.ReplicaTraits;
import understudy.routing.RoutingFixture;
import understudy.routing.RoutingPolicy;
import understudy.routing.RoutingPolicyFactory;
import understudy.workload.RandomStreams;

/** Estimates on replicas that compute a token in 1 us; a quick one takes half of that. */
final class TtftEstimateTest {
    private static final Request REQUEST = RoutingFixture.request(0, 0, 20);

    private final ClusterView view = new ClusterView();
    private final RoutingPolicy policy = policy(TtftEstimate.FACTORY);
    private final RoutingPolicy oracle = policy(Oracle.FACTORY);

    TtftEstimateTest() {
        view.addReplica(traits(1_000));
        view.addReplica(traits(1_000));
    }

    @Test
    void estimate_isWhatWaitsAndWhatIsNotCached() {
        policy.onKvEvents(0, RoutingFixture.stored(0, 16));
        view.onSent(0, RoutingFixture.request(7, 500, 12), 0);

        // Replica 0: 12 us of request 7, and 20 - 16 tokens. Replica 1: 20 tokens.
        assertThat(policy.choose(REQUEST, view)).isZero();
        assertThat(policy.estimatedTtftNanos(0)).isEqualTo(16_000);
        assertThat(policy.estimatedTtftNanos(1)).isEqualTo(20_000);
        assertThat(part(policy, "waiting prefills in us")).isEqualTo(List.of(12L, 0L));

        // 12 + 10 + 4 = 26 us, until request 7 has its first token: 10 + 4.
        view.onSent(0, RoutingFixture.request(8, 600, 12), 2);
        assertThat(policy.choose(REQUEST, view)).isEqualTo(1);
        assertThat(part(policy, "TTFT in us")).isEqualTo(List.of(26L, 20L));
        view.onFirstToken(7);
        assertThat(policy.choose(REQUEST, view)).isZero();
        assertThat(policy.estimatedTtftNanos(0)).isEqualTo(14_000);
    }

    @Test
    void estimate_countsTheLastTokenOfACachedPrompt() {
        policy.onKvEvents(0, RoutingFixture.stored(0, 20));

        policy.choose(REQUEST, view);

        assertThat(policy.estimatedTtftNanos(0)).isEqualTo(1_000);
    }

    @Test
    void estimate_isThatOfTheReplicasOwnHardware() {
        int quick = view.addReplica(traits(500));
        view.onSent(quick, RoutingFixture.request(7, 500, 12), 0);

        // 6 + 10 us, against 20.
        assertThat(policy.choose(REQUEST, view)).isEqualTo(quick);
        assertThat(policy.estimatedTtftNanos(quick)).isEqualTo(16_000);
    }

    @Test
    void equalEstimates_goToTheLessLoaded() {
        view.onDispatched(0);

        assertThat(policy.choose(REQUEST, view)).isEqualTo(1);
    }

    @Test
    void otherPolicies_estimateNothing() {
        assertThat(new RoundRobin().estimatedTtftNanos(0)).isNaN();
    }

    @Test
    void guardedPolicy_passesTheEstimateOn() {
        var guarded = new GuardedPolicy(policy, e -> {});

        guarded.choose(REQUEST, view);

        assertThat(guarded.estimatedTtftNanos(1)).isEqualTo(20_000);
    }

    @Test
    void oracle_countsWhatIsLeftAccordingToReports() {
        view.onDispatched(0);
        view.onReport(0, new LoadReport(0, 1, 0, 0, 7));

        // 7 tokens left and 20 of its own.
        assertThat(oracle.choose(REQUEST, view)).isEqualTo(1);
        assertThat(oracle.estimatedTtftNanos(0)).isEqualTo(27_000);
        assertThat(oracle.estimatedTtftNanos(1)).isEqualTo(20_000);
        // Of 9 tokens that were sent the first token has not come yet.
        view.onSent(0, RoutingFixture.request(7, 500, 9), 0);
        oracle.choose(REQUEST, view);
        assertThat(oracle.estimatedTtftNanos(0)).isEqualTo(29_000);
    }

    @Test
    void oracle_countsWhatIsStillUnderWay() {
        oracle.onKvEvents(0, RoutingFixture.stored(0, 16));
        send(0);

        // 4 tokens of the first request, which no report has yet, and 4 of this one.
        send(0);
        assertThat(oracle.estimatedTtftNanos(0)).isEqualTo(8_000);
        // The first has arrived and has 3 left; the second is under way.
        view.onReport(0, new LoadReport(0, 1, 0, 0, 3));
        send(0);
        assertThat(oracle.estimatedTtftNanos(0)).isEqualTo(3_000 + 4_000 + 4_000);
        // All have arrived, and one waits.
        view.onReport(0, new LoadReport(0, 2, 1, 0, 4));
        send(0);
        assertThat(oracle.estimatedTtftNanos(0)).isEqualTo(4_000 + 4_000);
    }

    private void send(int expected) {
        assertThat(oracle.choose(REQUEST, view)).isEqualTo(expected);
        view.onDispatched(expected);
    }

    @Test
    void oracle_takesWhatIsLeftInPieces() {
        int replica = view.addReplica(new ReplicaTraits("", 1, 1, (tokens, cached) -> 1_000 + tokens));
        view.setReady(0, false);
        view.setReady(1, false);
        view.onReport(replica, new LoadReport(0, 0, 0, 0, 2 * 8_192 + 10));

        oracle.choose(REQUEST, view);

        // Two pieces of 8,192 tokens, one of 10, and its own 20: four times 1 us, and 1 ns per token.
        assertThat(oracle.estimatedTtftNanos(replica)).isEqualTo(4_000 + 2 * 8_192 + 10 + 20);
    }

    @Test
    void oracle_takesLessThanAStepAsEqual() {
        var steps = new ReplicaTraits("", 1, 1, (tokens, cached) -> 100 + tokens - cached);
        int first = view.addReplica(steps);
        int second = view.addReplica(steps);
        view.setReady(0, false);
        view.setReady(1, false);
        view.onDispatched(first);
        view.onReport(first, new LoadReport(0, 1, 0, 0, 0));
        oracle.onKvEvents(first, RoutingFixture.stored(0, 16));

        // A step takes 101 ns. 104 and 120 ns are one step, and the second replica has less to decode.
        assertThat(oracle.choose(REQUEST, view)).isEqualTo(second);
        // 110 tokens take 194 and 210 ns: one step, and two.
        assertThat(oracle.choose(RoutingFixture.request(1, 0, 110), view)).isEqualTo(first);
    }

    /** 20 tokens take 20 us on the quick one, and on the other one 80: as many steps of its own, but not as little time. */
    @Test
    void oracle_comparesUnlikeReplicasByTime() {
        view.setReady(0, false);
        view.setReady(1, false);
        view.addReplica(traits(4_000));
        int quick = view.addReplica(traits(1_000));

        assertThat(oracle.choose(RoutingFixture.request(1, 0, 20), view)).isEqualTo(quick);
    }

    private List<Long> part(RoutingPolicy of, String name) {
        return of.explain(view).parts().stream()
                .filter(part -> part.name().equals(name))
                .findFirst()
                .orElseThrow()
                .byReplica();
    }

    private static ReplicaTraits traits(double nanosPerToken) {
        return new ReplicaTraits("", 1, 1, PrefillEstimate.perToken(nanosPerToken));
    }

    private static RoutingPolicy policy(RoutingPolicyFactory factory) {
        return factory.create(new RoutingPolicyFactory.Cluster(new Xxh3BlockHasher(4), 3, 2_000, new RandomStreams(1)));
    }
}
