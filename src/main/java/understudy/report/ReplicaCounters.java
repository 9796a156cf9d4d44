package understudy.report;

import understudy.kvcache.KvCacheAudit;
import understudy.kvcache.PrefixCacheStats;
import understudy.latency.BatchShape;

/** Counts what one replica does, while it does it. */
public final class ReplicaCounters {
    private final int replicaIndex;
    private long numRequests;
    private long numSteps;
    private long numPrefillTokens;
    private long numDecodeTokens;
    private long busyNanos;
    private long numPreemptions;
    private double peakKvUsage;
    private long numEnded;
    private long numPeeks;
    private PrefixCacheStats pastPrefixCache = PrefixCacheStats.NONE;

    /** Creates the counters of a replica that has done nothing. */
    public ReplicaCounters(int replicaIndex) {
        this.replicaIndex = replicaIndex;
    }

    /** Creates the counters of a replica that goes on where its predecessor ended. */
    public ReplicaCounters(RunRecord.ReplicaRecord predecessor) {
        var stats = predecessor.stats();
        replicaIndex = stats.replicaIndex();
        numRequests = stats.numRequests();
        numSteps = stats.numSteps();
        numPrefillTokens = stats.numPrefillTokens();
        numDecodeTokens = stats.numDecodeTokens();
        busyNanos = stats.busyNanos();
        numPreemptions = stats.numPreemptions();
        peakKvUsage = stats.peakKvUsage();
        numEnded = numRequests - predecessor.numUnfinished();
        numPeeks = predecessor.numPeeks();
        pastPrefixCache = stats.prefixCache();
    }

    /** Returns the counts of a replica that has ended, and whose memory is gone. */
    public RunRecord.ReplicaRecord lastRecord() {
        return record(KvCacheAudit.NOTHING, PrefixCacheStats.NONE);
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

    /** Takes note that a request has ended, whose output was asked for too early {@code peeks} times. */
    public void onEnded(int peeks) {
        numEnded++;
        numPeeks += peeks;
    }

    /** Returns how many requests have ended. */
    public long numEnded() {
        return numEnded;
    }

    /** Takes note of what a plan, even an empty one, has preempted. */
    public void onPreempted(int count) {
        numPreemptions += count;
    }

    /** Returns how often a request lost its blocks. */
    public long numPreemptions() {
        return numPreemptions;
    }

    /** Takes note of a batch that goes to the device. */
    public void onPlanned(BatchShape batch) {
        numPrefillTokens += batch.numPrefillTokens();
        numDecodeTokens += batch.numDecodes();
    }

    /** Takes note of a step that kept the device busy for {@code nanos}. */
    public void onStepDone(long nanos) {
        numSteps++;
        busyNanos += nanos;
    }

    /** Takes note of the share of blocks in use, 0 to 1. */
    public void onKvUsage(double usage) {
        peakKvUsage = Math.max(peakKvUsage, usage);
    }

    /** Takes note that the replica's memory is gone, and what it said of itself; a new one may follow. */
    public void onMemoryGone(PrefixCacheStats prefixCache) {
        pastPrefixCache = pastPrefixCache.plus(prefixCache);
    }

    /** Returns the lookups in memories that are gone. */
    public PrefixCacheStats prefixCacheOfPredecessors() {
        return pastPrefixCache;
    }

    /** Returns the counts so far, together with what the replica's memory says of itself. */
    public RunRecord.ReplicaRecord record(KvCacheAudit audit, PrefixCacheStats prefixCache) {
        return new RunRecord.ReplicaRecord(
                stats(pastPrefixCache.plus(prefixCache)), audit, numRequests - numEnded, numPeeks);
    }

    private ReplicaStats stats(PrefixCacheStats prefixCache) {
        return new ReplicaStats(
                replicaIndex,
                numRequests,
                numSteps,
                numPrefillTokens,
                numDecodeTokens,
                busyNanos,
                numPreemptions,
                peakKvUsage,
                prefixCache);
    }
}
