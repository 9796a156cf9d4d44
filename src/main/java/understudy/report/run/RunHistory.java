package understudy.report.run;

import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.longs.LongList;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import understudy.figure.OwnFigures;
import understudy.kvcache.KvBlockCounts;
import understudy.kvcache.PrefixCacheStats;
import understudy.kvcache.connector.KvSource;
import understudy.kvcache.connector.TierState;
import understudy.report.RequestRecord;

/** History of a run for its page: written down while it goes on, in order of time. Times are virtual nanoseconds. */
public final class RunHistory {
    /** Beyond so many replicas there are no curves of single ones. */
    static final int MAX_CURVES = 8;

    final BinnedSeries computedTokens = new BinnedSeries();
    final BinnedSeries outputTokens = new BinnedSeries();
    final BinnedSeries running = new BinnedSeries();
    final BinnedSeries waiting = new BinnedSeries();
    final BinnedSeries held = new BinnedSeries();
    final BinnedSeries preemptions = new BinnedSeries();
    final BinnedSeries queries = new BinnedSeries();
    final BinnedSeries hits = new BinnedSeries();
    final BinnedSeries kvUsed = new BinnedSeries();
    final BinnedSeries kvFilled = new BinnedSeries();
    final BinnedSeries movedBytes = new BinnedSeries();
    final Map<KvSource, BinnedSeries> tiers = new EnumMap<>(KvSource.class);
    final GapHistory gaps = new GapHistory();
    final RequestsInFlight inFlight = new RequestsInFlight();
    final RequestSample sample = new RequestSample();
    final List<ReplicaNow> replicas = new ArrayList<>();

    /** What only some families of engines have, by title. */
    final Map<String, BinnedSeries> own = new LinkedHashMap<>();

    private long numRunning;
    private long numWaiting;
    private long numPreemptions;
    private long numBlocks;
    private long numUsed;
    private long numCached;
    private long numQueries;
    private long numHits;

    /** State of a replica, and the curve of its KV use. */
    static final class ReplicaNow {
        final BinnedSeries kvUsed = new BinnedSeries();
        private int numRunning;
        private int numWaiting;
        private long numPreemptions;
        private KvBlockCounts blocks = KvBlockCounts.NONE;
        private PrefixCacheStats lookups = PrefixCacheStats.NONE;
        private List<TierState> tiers = List.of();
    }

    /** A step has ended with so many tokens computed and so many of answers sampled. */
    public void stepEnded(long atNanos, int numTokens, int numAnswerTokens) {
        computedTokens.add(atNanos, numTokens);
        outputTokens.add(atNanos, numAnswerTokens);
    }

    /** The state of an engine after a step is this, as far as only its family has it. */
    public void own(long atNanos, OwnFigures figures) {
        for (var figure : figures.figures()) {
            own.computeIfAbsent(figure.title(), title -> new BinnedSeries()).set(atNanos, figure.value());
        }
    }

    /** Gaps between tokens have ended, given as runs of equal values and the lengths of these runs. */
    public void gaps(long atNanos, LongList nanos, IntList counts) {
        for (int i = 0; i < nanos.size(); i++) {
            gaps.add(atNanos, nanos.getLong(i), counts.getInt(i));
        }
    }

    /** The queues of a replica are these. */
    public void load(long atNanos, int replicaIndex, int running, int waiting, long preempted) {
        var replica = replica(replicaIndex);
        numRunning += running - replica.numRunning;
        numWaiting += waiting - replica.numWaiting;
        numPreemptions += preempted - replica.numPreemptions;
        replica.numRunning = running;
        replica.numWaiting = waiting;
        replica.numPreemptions = preempted;
        this.running.set(atNanos, numRunning);
        this.waiting.set(atNanos, numWaiting);
        preemptions.set(atNanos, numPreemptions);
    }

    /** The memory of a replica is this; {@code lookups} are all since the start. */
    public void kvCache(
            long atNanos,
            int replicaIndex,
            KvBlockCounts blocks,
            PrefixCacheStats lookups,
            List<TierState> tierStates) {
        var replica = replica(replicaIndex);
        numBlocks += blocks.numBlocks() - replica.blocks.numBlocks();
        numUsed += blocks.numUsed() - replica.blocks.numUsed();
        numCached += blocks.numCached() - replica.blocks.numCached();
        numQueries += lookups.queries() - replica.lookups.queries();
        numHits += lookups.hits() - replica.lookups.hits();
        replica.blocks = blocks;
        replica.lookups = lookups;
        replica.tiers = tierStates;
        kvUsed.set(atNanos, share(numUsed, numBlocks));
        kvFilled.set(atNanos, share(numUsed + numCached, numBlocks));
        queries.set(atNanos, numQueries);
        hits.set(atNanos, numHits);
        if (replicaIndex < MAX_CURVES) {
            replica.kvUsed.set(atNanos, share(blocks.numUsed(), blocks.numBlocks()));
        }
        tierStates.forEach(state -> tier(atNanos, state.tier()));
    }

    private void tier(long atNanos, KvSource source) {
        long blocks = sum(source, TierState::numBlocks);
        long used = sum(source, state -> state.stats().numUsed());
        tiers.computeIfAbsent(source, s -> new BinnedSeries()).set(atNanos, share(used, blocks));
    }

    private long sum(KvSource source, ToLongFunction<TierState> figure) {
        return replicas.stream()
                .flatMap(replica -> replica.tiers.stream())
                .filter(state -> state.tier() == source)
                .mapToLong(figure)
                .sum();
    }

    /** So many requests wait in the router. */
    public void held(long atNanos, int numRequests) {
        held.set(atNanos, numRequests);
    }

    /** KV has been moved. */
    public void moved(long atNanos, long bytes) {
        movedBytes.add(atNanos, bytes);
    }

    /** A request has ended. */
    public void ended(RequestRecord record) {
        RequestsInFlight.@Nullable Story story = inFlight.ended(record);
        if (story != null) {
            sample.add(story);
        }
    }

    public RequestsInFlight inFlight() {
        return inFlight;
    }

    /** Ends all curves with the run. */
    void end(long atNanos) {
        List.of(computedTokens, outputTokens, running, waiting, held, preemptions, queries, hits)
                .forEach(series -> series.end(atNanos));
        List.of(kvUsed, kvFilled, movedBytes).forEach(series -> series.end(atNanos));
        tiers.values().forEach(series -> series.end(atNanos));
        own.values().forEach(series -> series.end(atNanos));
        replicas.forEach(replica -> replica.kvUsed.end(atNanos));
    }

    private ReplicaNow replica(int index) {
        while (replicas.size() <= index) {
            replicas.add(new ReplicaNow());
        }
        return replicas.get(index);
    }

    private static double share(long part, long whole) {
        return whole == 0 ? 0 : (double) part / whole * 100;
    }
}
