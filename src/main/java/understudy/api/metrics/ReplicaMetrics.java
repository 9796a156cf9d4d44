package understudy.api.metrics;

import io.prometheus.metrics.core.datapoints.CounterDataPoint;
import io.prometheus.metrics.core.datapoints.DistributionDataPoint;
import io.prometheus.metrics.core.datapoints.GaugeDataPoint;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import understudy.api.call.Generation;
import understudy.cluster.ClusterEvent;
import understudy.cluster.RequestEvent;
import understudy.faults.ReplicaState;
import understudy.kvcache.connector.KvSource;
import understudy.report.transfers.PromptTokens;

/**
 * vLLM's series of one replica. Told by several threads; the client library is thread-safe, and each count has one teller.
 */
final class ReplicaMetrics implements ReplicaSeries {
    private static final List<String> OTHER_CACHE_TIERS = List.of("host", "disk", "p2p", "external_unspecified");

    final GaugeDataPoint running;
    final GaugeDataPoint waiting;
    final GaugeDataPoint waitingForCapacity;
    final GaugeDataPoint waitingDeferred;
    final GaugeDataPoint kvUsage;
    final CounterDataPoint prefixQueries;
    final CounterDataPoint prefixHits;
    final CounterDataPoint preemptions;
    final CounterDataPoint promptTokens;
    final CounterDataPoint computedTokens;
    final CounterDataPoint cacheHitTokens;
    final CounterDataPoint externalTokens;
    final CounterDataPoint cachedTokens;
    final CounterDataPoint cachedOnDevice;
    final Map<KvSource, CounterDataPoint> cachedElsewhere = new EnumMap<>(KvSource.class);
    final CounterDataPoint generationTokens;
    final Map<String, CounterDataPoint> successByReason;
    final Map<String, DistributionDataPoint> histograms;
    private final TransferMetrics.Series transfers;
    private final DraftMetrics.@Nullable Series drafts;
    private final EngineFamilies families;
    private final int index;
    private final String model;

    /** Shows the series of a replica. */
    ReplicaMetrics(
            EngineFamilies families,
            int index,
            String model,
            TransferMetrics.Series transfers,
            DraftMetrics.@Nullable Series drafts) {
        this.families = families;
        this.index = index;
        this.model = model;
        this.transfers = transfers;
        this.drafts = drafts;
        String engine = String.valueOf(index);
        String[] labels = {engine, model};
        running = families.running.labelValues(labels);
        waiting = families.waiting.labelValues(labels);
        waitingForCapacity = families.waitingByReason.labelValues(engine, model, "capacity");
        waitingDeferred = families.waitingByReason.labelValues(engine, model, "deferred");
        kvUsage = families.kvUsage.labelValues(labels);
        prefixQueries = families.prefixQueries.labelValues(labels);
        prefixHits = families.prefixHits.labelValues(labels);
        preemptions = families.preemptions.labelValues(labels);
        promptTokens = families.promptTokens.labelValues(labels);
        computedTokens = families.promptTokensBySource.labelValues(engine, model, "local_compute");
        cacheHitTokens = families.promptTokensBySource.labelValues(engine, model, "local_cache_hit");
        externalTokens = families.promptTokensBySource.labelValues(engine, model, "external_kv_transfer");
        cachedTokens = families.promptTokensCached.labelValues(labels);
        cachedOnDevice = families.promptTokensCachedBySource.labelValues(engine, model, "device");
        OTHER_CACHE_TIERS.forEach(tier -> families.promptTokensCachedBySource.initLabelValues(engine, model, tier));
        for (var source : KvSource.values()) {
            var cached = families.promptTokensCachedBySource.labelValues(engine, model, source.label());
            cachedElsewhere.put(source, cached);
        }
        generationTokens = families.generationTokens.labelValues(labels);
        successByReason = families.successByReason(engine, model);
        histograms = families.histograms(engine, model);
        families.constants(engine, model);
    }

    @Override
    public void onLoad(ClusterEvent.EngineLoad load, EngineMetrics.Totals before) {
        running.set(load.numRunning());
        waiting.set(load.numWaiting());
        waitingForCapacity.set(load.numWaiting() - load.numDeferred());
        waitingDeferred.set(load.numDeferred());
        preemptions.inc(load.numPreemptions() - before.numPreemptions());
        if (families.loras != null) {
            families.loras.on(index, load.adapters());
        }
    }

    @Override
    public void onKvCache(ClusterEvent.KvCacheState state, EngineMetrics.Totals before) {
        kvUsage.set(state.usage());
        prefixQueries.inc(state.prefixCache().queries() - before.prefixCache().queries());
        prefixHits.inc(state.prefixCache().hits() - before.prefixCache().hits());
        if (state.traffic() != null) {
            transfers.on(state.traffic());
        }
    }

    @Override
    public void onState(ReplicaState state) {
        families.sleepState(String.valueOf(index), model, state);
    }

    @Override
    public void onStep(ClusterEvent.StepEnded step) {
        onGaps(step);
        if (drafts != null) {
            drafts.on(step.drafts());
        }
        if (step.numSampled() == 0) {
            return;
        }
        var first = step.firstTokens();
        var tokens = first.promptTokens().plus(first.legTokens());
        generationTokens.inc(step.numSampled());
        onPrompts(tokens);
        observe("iteration_tokens_total", (double) tokens.numComputed() + step.numSampled());
        for (int i = 0; i < first.ttftNanos().size(); i++) {
            observe("time_to_first_token_seconds", first.ttftNanos().getLong(i) / 1e9);
        }
    }

    private void onPrompts(PromptTokens tokens) {
        promptTokens.inc(tokens.total());
        computedTokens.inc(tokens.numComputed());
        cacheHitTokens.inc(tokens.numLocal());
        externalTokens.inc(tokens.numExternal());
        cachedTokens.inc(tokens.numCached());
        cachedOnDevice.inc(tokens.numLocal());
        cachedElsewhere.forEach((source, cached) -> cached.inc(tokens.from(source)));
    }

    private void onGaps(ClusterEvent.StepEnded step) {
        var gaps = histogram("inter_token_latency_seconds");
        for (int i = 0; i < step.gapNanos().size(); i++) {
            for (int count = step.gapCounts().getInt(i); count > 0; count--) {
                gaps.observe(step.gapNanos().getLong(i) / 1e9);
            }
        }
    }

    @Override
    public void onEnded(RequestEvent.Ended ended, Generation generation, String reason) {
        var success = successByReason.get(reason);
        if (success != null) {
            success.inc();
        }
        // An answer may end at a stop string before the engine knows; one that broke off is not read to its end.
        int numTokens = ended instanceof RequestEvent.Finished ? generation.numTokens() : ended.numOutputTokens();
        var spec = generation.spec();
        observe("request_prompt_tokens", spec.prompt().length());
        observe("request_generation_tokens", numTokens);
        observe("request_params_max_tokens", spec.maxTokens());
        if (spec.choice() % spec.params().n() == 0) {
            observe("request_params_n", spec.params().n());
            observe("request_max_num_generation_tokens", numTokens);
        }
        var timing = ended.timing();
        if (timing.firstTokenNanos() == 0) {
            return;
        }
        observe("request_prefill_kv_computed_tokens", spec.prompt().length() - (double) ended.numCachedTokens());
        observe("e2e_request_latency_seconds", (ended.atNanos() - generation.arrivalNanos()) / 1e9);
        observe("request_queue_time_seconds", (timing.scheduledNanos() - timing.queuedNanos()) / 1e9);
        observe("request_inference_time_seconds", (ended.atNanos() - timing.scheduledNanos()) / 1e9);
        observe("request_prefill_time_seconds", (timing.firstTokenNanos() - timing.scheduledNanos()) / 1e9);
        double decodeSeconds = (ended.atNanos() - timing.firstTokenNanos()) / 1e9;
        observe("request_decode_time_seconds", decodeSeconds);
        if (ended.numOutputTokens() > 1) {
            observe("request_time_per_output_token_seconds", decodeSeconds / (ended.numOutputTokens() - 1));
        }
    }

    private void observe(String name, double value) {
        histogram(name).observe(value);
    }

    private DistributionDataPoint histogram(String name) {
        var found = histograms.get(name);
        if (found == null) {
            throw new IllegalArgumentException("no histogram " + name);
        }
        return found;
    }
}
