package understudy.api.sglang;

import java.util.List;
import understudy.cluster.ClusterEvent;
import understudy.engine.speculation.DraftCounts;
import understudy.figure.OwnFigure;
import understudy.kvcache.KvBlockCounts;
import understudy.kvcache.PrefixCacheStats;

/**
 * Figures of a scheduler as SGLang tells them ({@code observability/scheduler_metrics_mixin.py}). What is summed up from one
 * report to the next is told as there: after each prefill, and every 40th decode. Queues and memory are told after each
 * step.
 */
public final class SchedulerReport {
    /** Decodes from one report to the next ({@code --decode-log-interval}). */
    private static final int DECODES_OF_REPORT = 40;

    private static final String DECODE = "decode";

    private final int pageSize;
    private int numRunning;
    private int numQueued;
    private List<OwnFigure> queues = List.of();
    private KvBlockCounts pages = KvBlockCounts.NONE;
    private double tokenUsage;
    private double cacheHitRate;
    private double genThroughput;
    private double newTokenRatio;
    private double specAcceptLength;
    private double specAcceptRate;
    private long numRetracted;
    private long numRetractedSince;
    private int numDecodes;
    private long numDecodedTokens;
    private long reportedNanos;
    private DraftCounts drafts = DraftCounts.NONE;

    /** Creates a report of a scheduler that has done nothing yet. */
    public SchedulerReport(int pageSize) {
        this.pageSize = pageSize;
    }

    /**
     * Records the queues.
     *
     * @param numPreemptions since they were told before
     */
    public void onLoad(ClusterEvent.EngineLoad load, long numPreemptions) {
        numRunning = load.numRunning();
        numQueued = load.numWaiting();
        queues = load.queues();
        numRetractedSince += numPreemptions;
        if (numRunning == 0 && numQueued == 0) {
            genThroughput = 0;
        }
    }

    /**
     * Records the memory.
     *
     * @param then its lookups when it was told before
     */
    public void onKvCache(ClusterEvent.KvCacheState state, PrefixCacheStats then) {
        pages = state.blocks();
        tokenUsage = state.usage();
        var now = state.prefixCache();
        long numTokens = now.queries() + now.preemptedQueries() - then.queries() - then.preemptedQueries();
        long numHits = now.hits() + now.preemptedHits() - then.hits() - then.preemptedHits();
        if (numTokens > 0) {
            cacheHitRate = (double) numHits / numTokens;
        }
    }

    /** Records a step. */
    public void onStep(ClusterEvent.StepEnded step) {
        for (var figure : step.own().figures()) {
            if (figure.key().equals("new_token_ratio")) {
                newTokenRatio = figure.value();
            }
        }
        if (!step.kind().equals(DECODE)) {
            reportRetracted();
            return;
        }
        numDecodedTokens += step.numSampled();
        drafts = drafts.plus(step.drafts());
        if (++numDecodes % DECODES_OF_REPORT == 0) {
            reportDecodes(step.endNanos());
        }
    }

    private void reportRetracted() {
        numRetracted = numRetractedSince;
        numRetractedSince = 0;
    }

    private void reportDecodes(long atNanos) {
        reportRetracted();
        genThroughput = numDecodedTokens / ((atNanos - reportedNanos) / 1e9);
        numDecodedTokens = 0;
        reportedNanos = atNanos;
        cacheHitRate = 0;
        if (drafts.numDrafts() > 0) {
            specAcceptLength = drafts.meanAcceptanceLength();
            specAcceptRate = drafts.acceptanceRate();
            drafts = DraftCounts.NONE;
        }
    }

    /** Returns how full a queue is that only SGLang has, by its name in a metric; 0 if there is none. */
    public long queue(String name) {
        for (int i = 0; i < queues.size(); i++) {
            if (queues.get(i).key().equals(name)) {
                return Math.round(queues.get(i).value());
            }
        }
        return 0;
    }

    /** Returns the tokens of all requests that wait: their prompts, and their answers so far. */
    public long numWaitingTokens() {
        return queue("waiting_tokens");
    }

    public int numRunning() {
        return numRunning;
    }

    public int numQueued() {
        return numQueued;
    }

    /** Returns how many tokens requests hold, in whole pages. */
    public long numUsedTokens() {
        return (long) pages.numUsed() * pageSize;
    }

    /** Returns how many tokens are only cached. */
    public long numEvictableTokens() {
        return (long) pages.numCached() * pageSize;
    }

    /** Returns how many tokens are free. */
    public long numAvailableTokens() {
        return (long) (pages.numBlocks() - pages.numUsed() - pages.numCached()) * pageSize;
    }

    public double tokenUsage() {
        return tokenUsage;
    }

    /** Returns the share of the prompts of the requests admitted last that was cached; 0 after a report of decodes. */
    public double cacheHitRate() {
        return cacheHitRate;
    }

    /** Returns the output tokens per second of the last report of decodes; 0 if there is nothing to do. */
    public double genThroughput() {
        return genThroughput;
    }

    public double newTokenRatio() {
        return newTokenRatio;
    }

    /** Returns how many requests were retracted from one report to the next. */
    public long numRetracted() {
        return numRetracted;
    }

    /** Returns the tokens that a verification of drafts has brought, of the last report; 0 without any. */
    public double specAcceptLength() {
        return specAcceptLength;
    }

    /** Returns the share of drafts that were accepted, of the last report. */
    public double specAcceptRate() {
        return specAcceptRate;
    }
}
