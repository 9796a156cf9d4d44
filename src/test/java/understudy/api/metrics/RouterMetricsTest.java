package understudy.api.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.prometheus.metrics.model.registry.PrometheusRegistry;
import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.longs.LongImmutableList;
import java.util.List;
import org.junit.jupiter.api.Test;
import understudy.api.http.HttpMetrics;
import understudy.cluster.ClusterEvent;
import understudy.routing.RoutingScores;

final class RouterMetricsTest {

    @Test
    void scores_areThoseOfTheChosenReplicas() {
        var registry = new PrometheusRegistry();
        var metrics = new RouterMetrics(registry);

        metrics.on(decision(1, "most cached", 0, 7, 5, 2));
        metrics.on(decision(1, "most cached", 3, 9, 6, 4));
        metrics.on(decision(0, "too little cached: fewest outstanding", 0, 0, 1, 8));

        var page = new HttpMetrics(registry).text();
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

    private static ClusterEvent.Routed decision(
            int chosen, String rule, long cached0, long cached1, long outstanding0, long outstanding1) {
        var cached = new RoutingScores.Part("cached blocks", LongImmutableList.of(cached0, cached1));
        var outstanding = new RoutingScores.Part("outstanding", LongImmutableList.of(outstanding0, outstanding1));
        return new ClusterEvent.Routed(
                0, chosen, 0, 100, IntList.of(0, 1), new RoutingScores(rule, List.of(cached, outstanding)));
    }
}
