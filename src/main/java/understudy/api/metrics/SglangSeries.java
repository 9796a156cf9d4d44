package understudy.api.metrics;

import io.prometheus.metrics.core.datapoints.CounterDataPoint;
import io.prometheus.metrics.core.datapoints.DistributionDataPoint;
import io.prometheus.metrics.core.datapoints.GaugeDataPoint;
import org.jspecify.annotations.Nullable;
import understudy.api.call.Generation;
import understudy.api.sglang.SchedulerReport;
import understudy.cluster.ClusterEvent;
import understudy.cluster.RequestEvent;

/** SGLang's series of one replica: those of its scheduler tell what its {@link SchedulerReport} does. */
final class SglangSeries implements ReplicaSeries {
    private final GaugeDataPoint running;
    private final GaugeDataPoint queued;
    private final GaugeDataPoint tokenUsage;
    private final GaugeDataPoint fullTokenUsage;
    private final GaugeDataPoint numUsedTokens;
    private final GaugeDataPoint kvUsedTokens;
    private final GaugeDataPoint kvAvailableTokens;
    private final GaugeDataPoint kvEvictableTokens;
    private final GaugeDataPoint cacheHitRate;
    private final GaugeDataPoint genThroughput;
    private final GaugeDataPoint newTokenRatio;
    private final GaugeDataPoint retracted;
    private final GaugeDataPoint specAcceptLength;
    private final GaugeDataPoint specAcceptRate;
    private final CounterDataPoint retractedTotal;
    private final DistributionDataPoint queueSeconds;
    private final @Nullable DistributionDataPoint tokenSeconds;
    private final DistributionDataPoint promptTokens;
    private final DistributionDataPoint uncachedPromptTokens;
    private final DistributionDataPoint generationTokens;
    private final CounterDataPoint cachedTokens;
    private final CounterDataPoint aborted;
    private final PerMode streamed;
    private final PerMode whole;
    private final SchedulerReport report;

    /** Series that tell streamed answers from others. */
    private static final class PerMode {
        private final DistributionDataPoint ttftSeconds;
        private final DistributionDataPoint requestSeconds;
        private final CounterDataPoint promptTokens;
        private final CounterDataPoint generationTokens;
        private final CounterDataPoint requests;

        PerMode(SglangFamilies families, String[] front, boolean isStreaming) {
            String[] labels = {front[0], front[1], front[2], String.valueOf(isStreaming)};
            ttftSeconds = families.ttftSeconds.labelValues(labels);
            requestSeconds = families.requestSeconds.labelValues(labels);
            promptTokens = families.promptTokensTotal.labelValues(labels);
            generationTokens = families.generationTokensTotal.labelValues(labels);
            requests = families.requestsTotal.labelValues(labels);
        }
    }

    /**
     * Shows the series of a replica.
     *
     * @param ranks labels of its scheduler's series
     * @param front labels of those of the process before it
     * @param speculates whether a step may bring a request several tokens, so that no gap is known for each
     */
    SglangSeries(SglangFamilies families, String[] ranks, String[] front, int pageSize, boolean speculates) {
        report = new SchedulerReport(pageSize);
        running = families.running.labelValues(ranks);
        queued = families.queued.labelValues(ranks);
        tokenUsage = families.tokenUsage.labelValues(ranks);
        fullTokenUsage = families.fullTokenUsage.labelValues(ranks);
        numUsedTokens = families.numUsedTokens.labelValues(ranks);
        kvUsedTokens = families.kvUsedTokens.labelValues(ranks);
        kvAvailableTokens = families.kvAvailableTokens.labelValues(ranks);
        kvEvictableTokens = families.kvEvictableTokens.labelValues(ranks);
        cacheHitRate = families.cacheHitRate.labelValues(ranks);
        genThroughput = families.genThroughput.labelValues(ranks);
        newTokenRatio = families.newTokenRatio.labelValues(ranks);
        retracted = families.retracted.labelValues(ranks);
        specAcceptLength = families.specAcceptLength.labelValues(ranks);
        specAcceptRate = families.specAcceptRate.labelValues(ranks);
        retractedTotal = families.retractedTotal.labelValues(ranks);
        queueSeconds = families.queueSeconds.labelValues(ranks);
        tokenSeconds = speculates ? null : families.tokenSeconds.labelValues(front);
        promptTokens = families.promptTokens.labelValues(front);
        uncachedPromptTokens = families.uncachedPromptTokens.labelValues(front);
        generationTokens = families.generationTokens.labelValues(front);
        cachedTokens = families.cachedTokensTotal.labelValues(front[0], front[1], front[2], "total");
        aborted = families.abortedTotal.labelValues(front);
        streamed = new PerMode(families, front, true);
        whole = new PerMode(families, front, false);
    }

    @Override
    public void onLoad(ClusterEvent.EngineLoad load, EngineMetrics.Totals before) {
        long numPreemptions = load.numPreemptions() - before.numPreemptions();
        report.onLoad(load, numPreemptions);
        running.set(report.numRunning());
        queued.set(report.numQueued());
        retractedTotal.inc(numPreemptions);
        genThroughput.set(report.genThroughput());
    }

    @Override
    public void onKvCache(ClusterEvent.KvCacheState state, EngineMetrics.Totals before) {
        report.onKvCache(state, before.prefixCache());
        tokenUsage.set(report.tokenUsage());
        fullTokenUsage.set(report.tokenUsage());
        numUsedTokens.set((double) report.numUsedTokens());
        kvUsedTokens.set((double) report.numUsedTokens());
        kvEvictableTokens.set((double) report.numEvictableTokens());
        kvAvailableTokens.set((double) report.numAvailableTokens());
        cacheHitRate.set(report.cacheHitRate());
    }

    @Override
    public void onStep(ClusterEvent.StepEnded step) {
        observeGaps(step);
        report.onStep(step);
        newTokenRatio.set(report.newTokenRatio());
        retracted.set((double) report.numRetracted());
        genThroughput.set(report.genThroughput());
        cacheHitRate.set(report.cacheHitRate());
        specAcceptLength.set(report.specAcceptLength());
        specAcceptRate.set(report.specAcceptRate());
    }

    private void observeGaps(ClusterEvent.StepEnded step) {
        for (int i = 0; i < step.gapNanos().size() && tokenSeconds != null; i++) {
            for (int count = step.gapCounts().getInt(i); count > 0; count--) {
                tokenSeconds.observe(step.gapNanos().getLong(i) / 1e9);
            }
        }
    }

    /** What was never scheduled is aborted, but not processed. */
    @Override
    public void onEnded(RequestEvent.Ended ended, Generation generation, String reason) {
        if (reason.equals("abort")) {
            aborted.inc();
        }
        var timing = ended.timing();
        if (timing.scheduledNanos() == 0) {
            return;
        }
        int numPrompt = generation.spec().prompt().length();
        int numGenerated = ended instanceof RequestEvent.Finished ? generation.numTokens() : ended.numOutputTokens();
        var mode = generation.spec().params().streams() ? streamed : whole;
        mode.requests.inc();
        mode.promptTokens.inc(numPrompt);
        mode.generationTokens.inc(numGenerated);
        mode.requestSeconds.observe((ended.atNanos() - generation.arrivalNanos()) / 1e9);
        if (timing.firstTokenNanos() > 0) {
            mode.ttftSeconds.observe((timing.firstTokenNanos() - generation.arrivalNanos()) / 1e9);
        }
        cachedTokens.inc(ended.numCachedTokens());
        queueSeconds.observe((timing.scheduledNanos() - timing.queuedNanos()) / 1e9);
        promptTokens.observe(numPrompt);
        uncachedPromptTokens.observe(numPrompt - ended.numCachedTokens());
        generationTokens.observe(numGenerated);
    }
}
