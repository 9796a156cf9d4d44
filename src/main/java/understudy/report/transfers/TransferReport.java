package understudy.report.transfers;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import understudy.kvcache.PrefixCacheStats;
import understudy.kvcache.connector.TierState;
import understudy.report.latency.LatencyStats;
import understudy.transfer.TransferFigures;

/**
 * Figures of a run about KV from other memories than a replica's own.
 *
 * @param promptTokens of the requests that have got a token, where they did
 * @param groups of replicas, in order of their first one
 * @param external look-ups elsewhere, in tokens
 * @param kinds of transfers, those that have happened
 * @param numExpired leases that have ended before another replica had read the blocks
 * @param numStale reads of blocks that were given up before, where those do not fail: answers from another prompt's KV
 * @param waitNanosPerRequest mean time of the transfers that a request waits for, over all answered requests
 * @param waitShareOfTtft that time as a share of the mean TTFT
 * @param tiers slower memories, those of one kind together
 */
public record TransferReport(
        PromptTokens promptTokens,
        List<Group> groups,
        PrefixCacheStats external,
        List<Kind> kinds,
        long numExpired,
        long numStale,
        double waitNanosPerRequest,
        double waitShareOfTtft,
        List<TierState> tiers) {

    /**
     * Replicas of a group.
     *
     * @param promptTokens of all that they were given, also for other replicas
     * @param external their look-ups elsewhere, in tokens
     */
    public record Group(String name, PromptTokens promptTokens, PrefixCacheStats external) {}

    /**
     * Transfers of one kind.
     *
     * @param name {@code load}, {@code store}, {@code read}, {@code promote} or {@code cascade}
     * @param time from the moment one was asked for to its end
     * @param numFailed others, which have failed
     */
    public record Kind(String name, LatencyStats time, long bytes, long numFailed) {

        private static Kind of(String name, TransferFigures figures) {
            double[] nanos = figures.nanos().longStream().asDoubleStream().toArray();
            return new Kind(name, LatencyStats.of(nanos), figures.totalBytes(), figures.numFailed());
        }

        /** Returns the speed of the mean transfer; a byte per nanosecond is a GB per second. */
        public double gigabytesPerSecond() {
            double nanos = time.meanNanos() * time.count();
            return nanos == 0 ? 0 : bytes / nanos;
        }
    }

    /**
     * Computes the figures of replicas, some of which have a connector.
     *
     * @param replicas by their group
     * @param ttft of the answered requests
     */
    public static TransferReport of(Map<String, List<ReplicaTransfers>> replicas, LatencyStats ttft) {
        var groups = new ArrayList<Group>();
        replicas.forEach((name, members) -> groups.add(group(name, sum(members))));
        var all = sum(replicas.values().stream().flatMap(List::stream).toList());
        var traffic = traffic(all);
        var transfers = traffic.transfers();
        double waitNanos = transfers.loads().totalNanos() + transfers.reads().totalNanos();
        double waitOfOne = ratio(waitNanos, (double) ttft.count());
        return new TransferReport(
                all.requestTokens(),
                List.copyOf(groups),
                traffic.external(),
                Stream.of(
                                Kind.of("load", transfers.loads()),
                                Kind.of("store", transfers.stores()),
                                Kind.of("read", transfers.reads()),
                                Kind.of("promote", transfers.promotions()),
                                Kind.of("cascade", transfers.cascades()))
                        .filter(kind -> kind.time.count() + kind.numFailed > 0)
                        .toList(),
                transfers.numExpired(),
                transfers.numStale(),
                waitOfOne,
                ratio(waitOfOne, ttft.meanNanos()),
                traffic.tiers());
    }

    private static ReplicaTransfers sum(List<ReplicaTransfers> replicas) {
        return replicas.stream().reduce(ReplicaTransfers::plus).orElseThrow();
    }

    private static Group group(String name, ReplicaTransfers sum) {
        return new Group(name, sum.promptTokens(), traffic(sum).external());
    }

    private static KvTraffic traffic(ReplicaTransfers replica) {
        return Objects.requireNonNullElse(replica.traffic(), KvTraffic.NONE);
    }

    private static double ratio(double part, double whole) {
        return whole == 0 ? 0 : part / whole;
    }
}
