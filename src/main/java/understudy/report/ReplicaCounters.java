package understudy.report;

import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.engine.EngineRequest;
import understudy.engine.lora.LoraCounts;
import understudy.engine.speculation.DraftCounts;
import understudy.figure.OwnFigure;
import understudy.figure.OwnFigures;
import understudy.kvcache.KvCacheAudit;
import understudy.kvcache.PrefixCacheStats;
import understudy.latency.BatchShape;
import understudy.report.transfers.KvTraffic;
import understudy.report.transfers.PromptTokens;
import understudy.report.transfers.ReplicaTransfers;

/** Counts the events of one replica as they happen. */
public final class ReplicaCounters {
    private final int replicaIndex;
    private final String group;
    private long numRequests;
    private long numSteps;
    private long numPrefillTokens;
    private long numDecodeTokens;
    private long busyNanos;
    private long numPreemptions;
    private double peakKvUsage;
    private long numEnded;
    private long numPeeks;
    private long numPreemptionsWithdrawn;
    private PrefixCacheStats pastPrefixCache = PrefixCacheStats.NONE;

    private DraftCounts drafts = DraftCounts.NONE;
    private LoraCounts loras = LoraCounts.NONE;
    private int numCountedElsewhere;

    /** Without those of the engine and the memory that are in use. */
    private OwnFigures own = OwnFigures.NONE;

    /** Without the traffic of the memory that is in use. */
    private ReplicaTransfers transfers = ReplicaTransfers.NONE;

    /** Creates the counters of a replica that has done nothing. */
    public ReplicaCounters(int replicaIndex, String group) {
        this.replicaIndex = replicaIndex;
        this.group = group;
    }

    /** Creates the counters of a replica that goes on where its predecessor ended. */
    public ReplicaCounters(RunRecord.ReplicaRecord predecessor) {
        var stats = predecessor.stats();
        replicaIndex = stats.replicaIndex();
        group = stats.group();
        numRequests = stats.numRequests();
        numSteps = stats.numSteps();
        numPrefillTokens = stats.numPrefillTokens();
        numDecodeTokens = stats.numDecodeTokens();
        busyNanos = stats.busyNanos();
        numPreemptions = stats.numPreemptions();
        peakKvUsage = stats.peakKvUsage();
        numEnded = numRequests - predecessor.numUnfinished();
        numPeeks = predecessor.numPeeks();
        numPreemptionsWithdrawn = predecessor.numPreemptionsWithdrawn();
        pastPrefixCache = stats.prefixCache();
        drafts = stats.drafts();
        loras = stats.loras();
        transfers = stats.transfers();
        own = stats.own();
    }

    /** Returns the counts of a replica that has ended with its memory. */
    public RunRecord.ReplicaRecord lastRecord() {
        return record(KvCacheAudit.NOTHING, PrefixCacheStats.NONE, null, OwnFigures.NONE);
    }

    public int replicaIndex() {
        return replicaIndex;
    }

    public void onRequest() {
        numRequests++;
    }

    /** Returns how many requests the replica was given. */
    public long numRequests() {
        return numRequests;
    }

    /** Counts a request that has ended; {@code running} is null if it was not queued. */
    public void onEnded(@Nullable EngineRequest running) {
        numEnded++;
        if (running == null) {
            return;
        }
        numPeeks += running.numPeeks();
        if (running.numOutputTokens() > 0) {
            transfers =
                    transfers.with(PromptTokens.of(running), running.request().isPrefillLeg());
        }
    }

    /** Adds to the requests here that have not ended, and that another replica counts. */
    public void onCountedElsewhere(int change) {
        numCountedElsewhere += change;
    }

    /** Counts the preemptions of a request that begins anew on another replica. */
    public void onWithdrawn(int preemptions) {
        numPreemptionsWithdrawn += preemptions;
    }

    /** Returns how many requests have ended. */
    public long numEnded() {
        return numEnded;
    }

    /** Counts the preemptions of a plan, even of an empty one. */
    public void onPreempted(int count) {
        numPreemptions += count;
    }

    /** Returns how often a request lost its blocks. */
    public long numPreemptions() {
        return numPreemptions;
    }

    /** Counts adapters that were loaded between two steps. */
    public void onAdaptersLoaded(BatchShape.Loras loaded) {
        loras = loras.plusLoaded(loaded);
    }

    /** Counts the tokens and the adapters of a batch that goes to the device. */
    public void onPlanned(BatchShape batch) {
        numPrefillTokens += batch.numPrefillTokens();
        numDecodeTokens += batch.numDecodes() + batch.numDraftTokens();
        loras = loras.plus(batch.loras());
    }

    /** Adds the counts of a step's drafts. */
    public void onVerified(DraftCounts verified) {
        drafts = drafts.plus(verified);
    }

    /** Counts a step that kept the device busy for {@code nanos}. */
    public void onStepDone(long nanos) {
        numSteps++;
        busyNanos += nanos;
    }

    /** Records the largest share of blocks that were in use so far, 0 to 1. */
    public void onPeakKvUsage(double usage) {
        peakKvUsage = Math.max(peakKvUsage, usage);
    }

    /** Records what an engine that has ended has counted; before its memory's. */
    public void onEngineGone(OwnFigures counted) {
        own = own.plus(counted);
    }

    /** Records what a memory that has ended has counted; a new one may follow. */
    public void onMemoryGone(PrefixCacheStats prefixCache, @Nullable KvTraffic traffic, List<OwnFigure> counted) {
        own = own.plus(counted);
        pastPrefixCache = pastPrefixCache.plus(prefixCache);
        transfers = transfers.with(traffic == null ? null : traffic.gone());
    }

    /** Returns the lookups in memories that have ended. */
    public PrefixCacheStats prefixCacheOfPredecessors() {
        return pastPrefixCache;
    }

    /**
     * Returns the counts so far, together with the audit, the lookups and the traffic of the replica's memory.
     *
     * @param ofFamily what engine and memory have counted that only their family has
     */
    public RunRecord.ReplicaRecord record(
            KvCacheAudit audit, PrefixCacheStats prefixCache, @Nullable KvTraffic traffic, OwnFigures ofFamily) {
        return new RunRecord.ReplicaRecord(
                stats(pastPrefixCache.plus(prefixCache), transfers.with(traffic), own.plus(ofFamily)),
                audit,
                numRequests - numEnded - numCountedElsewhere,
                numPeeks,
                numPreemptionsWithdrawn);
    }

    private ReplicaStats stats(PrefixCacheStats prefixCache, ReplicaTransfers kvTransfers, OwnFigures ofFamily) {
        return ReplicaStatsBuilder.builder()
                .replicaIndex(replicaIndex)
                .group(group)
                .numRequests(numRequests)
                .numSteps(numSteps)
                .numPrefillTokens(numPrefillTokens)
                .numDecodeTokens(numDecodeTokens)
                .busyNanos(busyNanos)
                .numPreemptions(numPreemptions)
                .peakKvUsage(peakKvUsage)
                .prefixCache(prefixCache)
                .drafts(drafts)
                .loras(loras)
                .transfers(kvTransfers)
                .own(ofFamily)
                .build();
    }
}
