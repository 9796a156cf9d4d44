package understudy.api.metrics;

import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.Summary;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import understudy.cluster.ClusterEvent;

/**
 * Metrics of the scores behind the router's choices. As many series as replicas times parts of the policy's score,
 * however many requests there are: each part has a sum and a count, whose rates give the mean score of the replicas
 * that were chosen.
 */
public final class RouterMetrics {
    private final Counter rules;
    private final Summary scores;

    /** Registers the families. */
    public RouterMetrics(PrometheusRegistry registry) {
        rules = Counter.builder()
                .name("understudy_router_rule_decisions")
                .help("Choices of the router, by the rule of its policy that decided.")
                .labelNames("rule")
                .register(registry);
        scores = Summary.builder()
                .name("understudy_router_score")
                .help("What each chosen replica had of a part of the policy's score, before the request counted.")
                .labelNames("engine", "part")
                .register(registry);
    }

    /** Accepts an event of the cluster. */
    public void on(ClusterEvent event) {
        if (event instanceof ClusterEvent.Routed decision) {
            count(decision);
        }
    }

    private void count(ClusterEvent.Routed decision) {
        rules.labelValues(decision.scores().rule()).inc();
        String engine = String.valueOf(decision.replicaIndex());
        for (var part : decision.scores().parts()) {
            double score = part.byReplica().getLong(decision.replicaIndex());
            scores.labelValues(engine, part.name()).observe(score);
        }
    }
}
