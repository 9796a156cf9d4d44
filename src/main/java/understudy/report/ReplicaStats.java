package understudy.report;

import io.soabase.recordbuilder.core.RecordBuilder;
import understudy.engine.lora.LoraCounts;
import understudy.engine.speculation.DraftCounts;
import understudy.figure.OwnFigures;
import understudy.kvcache.PrefixCacheStats;
import understudy.report.transfers.ReplicaTransfers;

/**
 * Figures of one replica in a run.
 *
 * @param replicaIndex from 0
 * @param group name of the group of like replicas that it belongs to, or empty
 * @param numRequests requests it was given
 * @param numSteps steps its device ran
 * @param numPrefillTokens tokens computed in chunks of more than one
 * @param numDecodeTokens tokens computed one at a time, and the drafts verified with them
 * @param busyNanos virtual time in which its device ran a step
 * @param numPreemptions how often a request lost its blocks
 * @param peakKvUsage largest share of blocks in use after planning a step, 0 to 1
 * @param prefixCache lookups in its prefix table
 * @param drafts counts of drafts
 * @param loras use of LoRA adapters
 * @param transfers sources of the KV of its prompts
 * @param own figures of its family of engines
 */
@RecordBuilder
public record ReplicaStats(
        int replicaIndex,
        String group,
        long numRequests,
        long numSteps,
        long numPrefillTokens,
        long numDecodeTokens,
        long busyNanos,
        long numPreemptions,
        double peakKvUsage,
        PrefixCacheStats prefixCache,
        DraftCounts drafts,
        LoraCounts loras,
        ReplicaTransfers transfers,
        OwnFigures own) {}
