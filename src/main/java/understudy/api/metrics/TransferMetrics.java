package understudy.api.metrics;

import io.prometheus.metrics.core.datapoints.CounterDataPoint;
import io.prometheus.metrics.core.metrics.Counter;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import understudy.cluster.ReplicaSpec;
import understudy.kvcache.connector.KvSource;
import understudy.kvcache.connector.TierState;
import understudy.kvcache.connector.TierStats;
import understudy.report.transfers.KvTraffic;
import understudy.transfer.KvTransferSpec;
import understudy.transfer.TransferCost;

/** Metrics of KV from elsewhere: the look-ups, and what the connectors in use have to tell. */
final class TransferMetrics {
    private static final TierStats NO_STATS = new TierStats(0, 0, 0, 0, 0, 0, 0, 0, 0);

    private final Counter queries;
    private final Counter hits;
    private final @Nullable NixlMetrics nixl;
    private final @Nullable OffloadMetrics offload;

    TransferMetrics(MetricFamilies make, List<ReplicaSpec> replicas) {
        queries = make.counter("external_prefix_cache_queries", "Prefix cache queries to other instances, in tokens.");
        hits = make.counter("external_prefix_cache_hits", "Prefix cache hits of other instances, in tokens.");
        var sources = EnumSet.noneOf(KvSource.class);
        replicas.forEach(replica -> sources.addAll(sources(replica)));
        nixl = sources.contains(KvSource.PEER) ? new NixlMetrics(make, cost(replicas)) : null;
        offload = sources.contains(KvSource.HOST) ? new OffloadMetrics(make) : null;
    }

    private static Set<KvSource> sources(ReplicaSpec replica) {
        var connector = replica.kvCache().connector();
        return connector == null ? Set.of() : connector.sources();
    }

    /** Returns the cost of transfers on the network, which is the same for all. */
    private static TransferCost cost(List<ReplicaSpec> replicas) {
        return replicas.stream()
                .map(ReplicaSpec::transfers)
                .filter(Objects::nonNull)
                .map(KvTransferSpec::networkCost)
                .findFirst()
                .orElse(TransferCost.NONE);
    }

    /** The series of a replica. */
    final class Series {
        private final String engine;
        private final String model;
        private final CounterDataPoint queriesPoint;
        private final CounterDataPoint hitsPoint;
        private final @Nullable NixlMetrics ownNixl;
        private final @Nullable OffloadMetrics ownOffload;
        private KvTraffic told = KvTraffic.NONE;

        /** Shows those that a replica of this kind has. */
        Series(String engine, String model, ReplicaSpec spec) {
            this.engine = engine;
            this.model = model;
            queriesPoint = queries.labelValues(engine, model);
            hitsPoint = hits.labelValues(engine, model);
            ownNixl = sources(spec).contains(KvSource.PEER) ? nixl : null;
            ownOffload = sources(spec).contains(KvSource.HOST) ? offload : null;
            if (ownNixl != null) {
                ownNixl.show(engine, model);
            }
            if (ownOffload != null) {
                ownOffload.show(engine, model);
            }
        }

        void on(KvTraffic traffic) {
            queriesPoint.inc(traffic.external().queries() - told.external().queries());
            hitsPoint.inc(traffic.external().hits() - told.external().hits());
            if (ownNixl != null) {
                ownNixl.on(traffic.transfers(), engine, model);
            }
            var host = host(traffic);
            if (ownOffload != null && host.isPresent()) {
                ownOffload.on(traffic.transfers(), host.get(), before(), engine, model);
            }
            told = traffic;
        }

        private TierStats before() {
            return host(told).map(TierState::stats).orElse(NO_STATS);
        }

        private static Optional<TierState> host(KvTraffic traffic) {
            return traffic.tiers().stream()
                    .filter(tier -> tier.tier() == KvSource.HOST)
                    .findFirst();
        }
    }
}
