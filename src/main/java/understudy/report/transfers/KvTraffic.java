package understudy.report.transfers;

import java.util.ArrayList;
import java.util.List;
import understudy.kvcache.PrefixCacheStats;
import understudy.kvcache.connector.TierState;
import understudy.transfer.TransferCounts;

/**
 * KV that a replica's memory has exchanged with other memories.
 *
 * @param external look-ups elsewhere, in tokens (vLLM {@code external_prefix_cache_queries}, {@code _hits})
 * @param transfers that the memory has asked for
 * @param tiers slower memories of the replica, at most one of each kind
 */
public record KvTraffic(PrefixCacheStats external, TransferCounts transfers, List<TierState> tiers) {
    /** Nothing,: of a replica without a connector, or of one that has just begun. */
    public static final KvTraffic NONE = new KvTraffic(PrefixCacheStats.NONE, TransferCounts.NONE, List.of());

    /** Returns both together. */
    public KvTraffic plus(KvTraffic other) {
        return new KvTraffic(external.plus(other.external), transfers.plus(other.transfers), joined(other.tiers));
    }

    private List<TierState> joined(List<TierState> others) {
        var all = new ArrayList<>(tiers);
        for (var other : others) {
            int same = all.stream().map(TierState::tier).toList().indexOf(other.tier());
            if (same < 0) {
                all.add(other);
            } else {
                all.set(same, all.get(same).plus(other));
            }
        }
        return List.copyOf(all);
    }

    /** Returns the last traffic to report of a memory that is gone. */
    public KvTraffic gone() {
        return new KvTraffic(
                external, transfers, tiers.stream().map(TierState::gone).toList());
    }
}
