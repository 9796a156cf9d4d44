package understudy.api.metrics;

import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.core.metrics.Summary;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import understudy.cluster.ClusterEvent;
import understudy.faults.ReplicaState;

/**
 * Metrics of the router: the scores behind its choices, and what waits there or is turned away. As many series as replicas times parts of the policy's score,
 * however many requests there are: each part has a sum and a count, whose rates give the mean score of the replicas
 * that were chosen.
 */
public final class RouterMetrics {
    private final Counter rules;
    private final Summary scores;
    private final Set<String> parts = new HashSet<>();
    private final Gauge held;
    private final Counter rejected;

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
        held = Gauge.builder()
                .name("understudy_router_requests_held")
                .help("Requests that wait in the router for a replica.")
                .register(registry);
        rejected = Counter.builder()
                .name("understudy_router_requests_rejected")
                .help("Requests that the router has turned away because of the load.")
                .labelNames("reason")
                .register(registry);
    }

    /** Accepts an event of the cluster. */
    public void on(ClusterEvent event) {
        if (event instanceof ClusterEvent.Routed decision) {
            count(decision);
        } else if (event instanceof ClusterEvent.ReplicasChanged replicas) {
            forgetRemoved(replicas.states());
        } else if (event instanceof ClusterEvent.RequestsHeld now) {
            held.set(now.numRequests());
        } else if (event instanceof ClusterEvent.RequestEnded request
                && request.ended().outcome().isLoadShed()) {
            rejected.labelValues(request.ended().outcome().name().toLowerCase(Locale.ROOT))
                    .inc();
        }
    }

    /** The series of a replica vanish with it. */
    private void forgetRemoved(List<ReplicaState> states) {
        for (int i = 0; i < states.size(); i++) {
            if (states.get(i) == ReplicaState.REMOVED) {
                String engine = String.valueOf(i);
                parts.forEach(part -> scores.remove(engine, part));
            }
        }
    }

    private void count(ClusterEvent.Routed decision) {
        rules.labelValues(decision.scores().rule()).inc();
        String engine = String.valueOf(decision.replicaIndex());
        for (var part : decision.scores().parts()) {
            double score = part.byReplica().getLong(decision.replicaIndex());
            scores.labelValues(engine, part.name()).observe(score);
            parts.add(part.name());
        }
    }
}
