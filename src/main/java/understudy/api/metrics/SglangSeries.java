package understudy.api.metrics;

import io.prometheus.metrics.core.datapoints.CounterDataPoint;
import io.prometheus.metrics.core.datapoints.DistributionDataPoint;
import io.prometheus.metrics.core.datapoints.GaugeDataPoint;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import understudy.api.call.Generation;
import understudy.api.sglang.SchedulerReport;
import understudy.cluster.ClusterEvent;
import understudy.cluster.RequestEvent;
import understudy.engine.lora.AdapterUse;
import understudy.figure.OwnFigure;
import understudy.routing.Role;

/** SGLang's series of one replica: those of its scheduler tell what its {@link SchedulerReport} does. */
final class SglangSeries implements ReplicaSeries {
    private static final double BYTES_PER_MB = 1 << 20;

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
    private final SglangFamilies families;
    private final String[] ranks;
    private final Role role;
    private final Map<String, GaugeDataPoint> roleQueues = new LinkedHashMap<>();
    private long numEvictedTokens;
    private long numLoadedTokens;
    private long numPrefetchedTokens;
    private long numBackedUpTokens;

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
     * @param role of its engine
     */
    SglangSeries(SglangFamilies families, String[] ranks, String[] front, int pageSize, boolean speculates, Role role) {
        this.families = families;
        this.ranks = ranks;
        this.role = role;
        families.roleQueues.forEach((name, gauge) -> roleQueues.put(name, gauge.labelValues(ranks)));
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
        queued.set((double) report.queue("num_queue_reqs"));
        roleQueues.forEach((name, gauge) -> gauge.set((double) report.queue(name)));
        onAdapters(load.adapters());
        retractedTotal.inc(numPreemptions);
        genThroughput.set(report.genThroughput());
    }

    /** Families that SGLang has only with LoRA. */
    private void onAdapters(AdapterUse adapters) {
        if (adapters.maxLoras() > 0) {
            int numUsed = adapters.running().size();
            families.loraSlotsUsed.labelValues(ranks).set(numUsed);
            families.loraSlotsTotal.labelValues(ranks).set(adapters.maxLoras());
            families.loraUtilization.labelValues(ranks).set((double) numUsed / adapters.maxLoras());
        }
    }

    /** What the memory has counted, as {@code RadixCacheMetricsCollector} does; the host's levels only with HiCache. */
    private void onMemory(List<OwnFigure> own) {
        // The names of SGLang's classes.
        String cacheType =
                own.stream().anyMatch(figure -> figure.key().equals("loaded_tokens")) ? "HiRadixCache" : "RadixCache";
        for (var figure : own) {
            long value = Math.round(figure.value());
            switch (figure.key()) {
                case "evicted_tokens" -> {
                    families.evictedTokens.labelValues(ranks[0], cacheType).inc(Math.max(0, value - numEvictedTokens));
                    numEvictedTokens = value;
                }
                case "loaded_tokens" -> {
                    families.loadBackTokens.labelValues(ranks[0], cacheType).inc(Math.max(0, value - numLoadedTokens));
                    numLoadedTokens = value;
                }
                case "prefetched_tokens" -> {
                    families.prefetchedTokens
                            .labelValues(ranks[0], "0", "0")
                            .inc(Math.max(0, value - numPrefetchedTokens));
                    numPrefetchedTokens = value;
                }
                case "backuped_tokens" -> {
                    families.backedUpTokens.labelValues(ranks[0], "0", "0").inc(Math.max(0, value - numBackedUpTokens));
                    numBackedUpTokens = value;
                }
                case "host_used_tokens" ->
                    families.hostUsedTokens.labelValues(ranks).set((double) value);
                case "host_total_tokens" ->
                    families.hostTotalTokens.labelValues(ranks).set((double) value);
                default -> {
                    // SGLang does not show it.
                }
            }
        }
    }

    @Override
    public void onPush(ClusterEvent.KvPushEnded push) {
        if (push.isFailed()) {
            (push.isMet() ? families.transferFailed : families.bootstrapFailed)
                    .labelValues(ranks)
                    .inc();
            return;
        }
        boolean isPrefill = role == Role.PREFILL;
        families.bootstrapMillis.labelValues(ranks).observe(push.bootstrapNanos() / 1e6);
        families.allocMillis.labelValues(ranks).observe(push.placesNanos() / 1e6);
        stage(isPrefill ? "prefill_bootstrap" : "decode_bootstrap", push.bootstrapNanos() + push.placesNanos());
        stage(isPrefill ? "prefill_transfer_kv_cache" : "decode_transferred", push.transferNanos());
        if (isPrefill && push.transferNanos() > 0) {
            families.transferMillis.labelValues(ranks).observe(push.transferNanos() / 1e6);
            families.transferMb.labelValues(ranks).observe(push.bytes() / BYTES_PER_MB);
            double gigabytes = push.bytes() / BYTES_PER_MB / 1024;
            families.transferGbPerSecond.labelValues(ranks).observe(gigabytes / (push.transferNanos() / 1e9));
        }
    }

    private void stage(String name, long nanos) {
        families.stageSeconds
                .labelValues(ranks[0], ranks[1], ranks[2], ranks[3], ranks[4], ranks[5], name)
                .observe(nanos / 1e9);
    }

    @Override
    public void onKvCache(ClusterEvent.KvCacheState state, EngineMetrics.Totals before) {
        onMemory(state.own());
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
        if (role != Role.DECODE && timing.firstTokenNanos() > 0) {
            stage("prefill_forward", timing.firstTokenNanos() - timing.scheduledNanos());
        }
        cachedTokens.inc(ended.numCachedTokens());
        queueSeconds.observe((timing.scheduledNanos() - timing.queuedNanos()) / 1e9);
        promptTokens.observe(numPrompt);
        uncachedPromptTokens.observe(numPrompt - ended.numCachedTokens());
        generationTokens.observe(numGenerated);
    }
}
