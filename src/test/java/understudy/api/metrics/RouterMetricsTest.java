package understudy.api.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.prometheus.metrics.model.registry.PrometheusRegistry;
import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.longs.LongImmutableList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import understudy.api.http.HttpMetrics;
import understudy.cluster.ClusterEvent;
import understudy.engine.Request;
import understudy.faults.ReplicaState;
import understudy.report.Outcome;
import understudy.report.RequestRecord;
import understudy.routing.RoutingFixture;
import understudy.routing.RoutingScores;

final class RouterMetricsTest {
    private static final Request REQUEST = RoutingFixture.request(1, 0, 4);

    @Test
    void scores_areThoseOfTheChosenReplicas() {
        var registry = new PrometheusRegistry();
        var metrics = new RouterMetrics(registry);

        metrics.on(decision(1, "most cached", 0, 7, 5, 2));
        metrics.on(decision(1, "most cached", 3, 9, 6, 4));
        metrics.on(decision(0, "too little cached: fewest outstanding", 0, 0, 1, 8));

        var page = new HttpMetrics(registry, Set.of()).text();
        assertThat(page)
                .contains(
                        "understudy_router_rule_decisions_total{rule=\"most cached\"} 2.0",
                        "understudy_router_rule_decisions_total{rule=\"too little cached: fewest outstanding\"} 1.0",
                        // 7 + 9 cached blocks, 2 + 4 outstanding
                        "understudy_router_score_count{engine=\"1\",part=\"cached blocks\"} 2",
                        "understudy_router_score_sum{engine=\"1\",part=\"cached blocks\"} 16.0",
                        "understudy_router_score_sum{engine=\"1\",part=\"outstanding\"} 6.0",
                        "understudy_router_score_sum{engine=\"0\",part=\"cached blocks\"} 0.0",
                        "understudy_router_score_sum{engine=\"0\",part=\"outstanding\"} 1.0");
    }

    @Test
    void scoresOfAReplica_vanishWithIt() {
        var registry = new PrometheusRegistry();
        var metrics = new RouterMetrics(registry);
        metrics.on(decision(0, "most cached", 5, 7, 5, 2));
        metrics.on(decision(1, "most cached", 0, 7, 5, 2));

        metrics.on(new ClusterEvent.ReplicasChanged(9, List.of(ReplicaState.READY, ReplicaState.REMOVED)));

        assertThat(new HttpMetrics(registry, Set.of()).text())
                .contains("understudy_router_score_sum{engine=\"0\",part=\"cached blocks\"} 5.0")
                .doesNotContain("engine=\"1\"");
    }

    @Test
    void whatWaitsAndIsTurnedAway_isCounted() {
        var registry = new PrometheusRegistry();
        var metrics = new RouterMetrics(registry);

        metrics.on(new ClusterEvent.RequestsHeld(1, 3));
        metrics.on(new ClusterEvent.RequestsHeld(2, 2));
        for (var outcome : List.of(Outcome.QUEUE_FULL, Outcome.QUEUE_FULL, Outcome.RATE_LIMITED, Outcome.REJECTED)) {
            metrics.on(new ClusterEvent.RequestEnded(
                    RequestRecord.ended(REQUEST, REQUEST.progress(), RequestRecord.NO_REPLICA, outcome, 3)));
        }

        assertThat(new HttpMetrics(registry, Set.of()).text())
                .contains(
                        "understudy_router_requests_held 2.0",
                        "understudy_router_requests_rejected_total{reason=\"queue_full\"} 2.0",
                        "understudy_router_requests_rejected_total{reason=\"rate_limited\"} 1.0")
                // Too long for any replica, which is not the load.
                .doesNotContain("reason=\"rejected\"");
    }

    private static ClusterEvent.Routed decision(
            int chosen, String rule, long cached0, long cached1, long outstanding0, long outstanding1) {
        var cached = new RoutingScores.Part("cached blocks", LongImmutableList.of(cached0, cached1));
        var outstanding = new RoutingScores.Part("outstanding", LongImmutableList.of(outstanding0, outstanding1));
        return new ClusterEvent.Routed(
                0, chosen, 0, 100, IntList.of(0, 1), new RoutingScores(rule, List.of(cached, outstanding)));
    }

    /** The library leaves the end off a counter's name; both ways of writing it are the same. */
    @Test
    void familyThatAVersionDoesNotHave_isNotOnThePage() {
        var registry = new PrometheusRegistry();
        new RouterMetrics(registry).on(new ClusterEvent.RequestsHeld(1, 3));
        String all = new HttpMetrics(registry, Set.of("understudy_router_requests_held", "http_requests_total")).text();

        assertThat(all)
                .contains("understudy_streams_cut_total")
                .doesNotContain("understudy_router_requests_held", "http_requests_total");
    }
}
