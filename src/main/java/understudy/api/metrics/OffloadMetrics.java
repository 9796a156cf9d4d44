package understudy.api.metrics;

import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.core.metrics.Histogram;
import java.util.List;
import understudy.kvcache.connector.TierState;
import understudy.kvcache.connector.TierStats;
import understudy.transfer.TransferCounts;
import understudy.transfer.TransferFigures;

/**
 * Metrics of host memory ({@code offloading/metrics.py}, {@code kv_offload/cpu/spec.py}); replicas have them whose
 * connector offloads.
 */
final class OffloadMetrics {
    private static final double[] LOOKUP_SECONDS = {1e-5, 5e-5, 1e-4, 5e-4, .001, .005, .01, .05, .1, .5, 1};
    private static final double[] DEFERRED_SECONDS = {1e-4, 5e-4, .001, .005, .01, .05, .1, .5, 1, 5, 10};
    private static final String TO_GPU = "CPU_to_GPU";
    private static final String FROM_GPU = "GPU_to_CPU";

    private final Direction load;
    private final Direction store;
    private final Counter totalBytes;
    private final Counter totalTime;
    private final Histogram size;
    private final Gauge usage;
    private final Gauge writeUsage;
    private final Gauge readUsage;
    private final Histogram allocationSize;
    private final Counter storesSkipped;
    private final Counter allocationFailure;
    private final List<Histogram> lookupDelays;

    OffloadMetrics(MetricFamilies make) {
        totalBytes =
                make.counter("kv_offload_total_bytes", "Number of bytes offloaded by KV connector", "transfer_type");
        totalTime = make.counter(
                "kv_offload_total_time", "Total time measured by all KV offloading operations", "transfer_type");
        size = make.offloadBytes(
                "kv_offload_size", "Histogram of KV offload transfer size, in bytes.", "transfer_type");
        load = new Direction(make, "load", "loaded from offload storage to GPU", "from offload storage to GPU", TO_GPU);
        store = new Direction(
                make, "store", "stored from GPU to offload storage", "from GPU to offload storage", FROM_GPU);
        usage = make.gauge(
                "kv_offload_cpu_cache_usage_perc",
                "Fraction of CPU KV-cache space currently pinned by active transfers (0.0 = idle, 1.0 = saturated). "
                        + "Sustained high values indicate transfers (stores or promotions) may be dropped due to "
                        + "insufficient capacity.");
        writeUsage = make.gauge(
                "kv_offload_cpu_cache_write_usage_perc",
                "Fraction of CPU KV-cache space currently pinned by in-flight stores that have not yet completed "
                        + "(0.0 = idle, 1.0 = saturated).");
        readUsage = make.gauge(
                "kv_offload_cpu_cache_read_usage_perc",
                "Fraction of CPU KV-cache space currently pinned by in-flight loads that have not yet completed "
                        + "(0.0 = idle, 1.0 = saturated).");
        allocationSize = make.histogram(
                "kv_offload_cpu_allocation_size",
                "Histogram of the number of CPU blocks requested by each KV offload prepare_store call.",
                1,
                4,
                16,
                64,
                256,
                1024,
                4096,
                16384,
                65536,
                262144);
        storesSkipped = make.counter(
                "kv_offload_stores_skipped",
                "Number of KV offload stores skipped because the reuse threshold was not reached.");
        allocationFailure = make.counter(
                "kv_offload_allocation_failure", "Number of KV offload store allocation attempts that failed.");
        lookupDelays = List.of(
                make.histogram(
                        "kv_offload_lookup_sync_delay_seconds",
                        "Histogram of the time spent in a single offload lookup call, in seconds.",
                        LOOKUP_SECONDS),
                make.histogram(
                        "kv_offload_lookup_async_delay_seconds",
                        "Histogram of time between a request's offload lookup first deferring and the following lookup "
                                + "resolving, or request finish, in seconds.",
                        DEFERRED_SECONDS));
    }

    /** Transfers in one direction, under vLLM's names of today and those of before. */
    private final class Direction {
        private final String transferType;
        private final Counter bytes;
        private final Counter time;
        private final Histogram operationSize;

        Direction(MetricFamilies make, String name, String moved, String way, String transferType) {
            this.transferType = transferType;
            bytes = make.counter("kv_offload_" + name + "_bytes", "Total bytes " + moved + ".");
            time = make.counter("kv_offload_" + name + "_time", "Total " + name + " time " + way + ", in seconds.");
            operationSize = make.offloadBytes(
                    "kv_offload_" + name + "_size", "Histogram of KV offload " + name + " operation size, in bytes.");
        }

        void show(String engine, String model) {
            List.of(bytes, time).forEach(family -> family.initLabelValues(engine, model));
            operationSize.initLabelValues(engine, model);
            List.of(totalBytes, totalTime).forEach(family -> family.initLabelValues(engine, model, transferType));
            size.initLabelValues(engine, model, transferType);
        }

        void on(TransferFigures figures, String engine, String model) {
            double seconds = figures.totalNanos() / 1e9;
            bytes.labelValues(engine, model).inc(figures.totalBytes());
            time.labelValues(engine, model).inc(seconds);
            totalBytes.labelValues(engine, model, transferType).inc(figures.totalBytes());
            totalTime.labelValues(engine, model, transferType).inc(seconds);
            for (long each : figures.bytes()) {
                operationSize.labelValues(engine, model).observe((double) each);
                size.labelValues(engine, model, transferType).observe((double) each);
            }
        }
    }

    /** Shows the series of a replica. */
    void show(String engine, String model) {
        load.show(engine, model);
        store.show(engine, model);
        List.of(usage, writeUsage, readUsage).forEach(family -> family.initLabelValues(engine, model));
        List.of(storesSkipped, allocationFailure).forEach(family -> family.initLabelValues(engine, model));
        allocationSize.initLabelValues(engine, model);
        lookupDelays.forEach(family -> family.initLabelValues(engine, model));
    }

    /**
     * Counts what has happened since the last time.
     *
     * @param before the tier's counts at that time
     */
    void on(TransferCounts counts, TierState tier, TierStats before, String engine, String model) {
        load.on(counts.loads(), engine, model);
        store.on(counts.stores(), engine, model);
        for (long numBlocks : counts.stores().descriptors()) {
            allocationSize.labelValues(engine, model).observe((double) numBlocks);
        }
        var stats = tier.stats();
        usage.labelValues(engine, model).set(tier.share(stats.numPending() + stats.numInRead()));
        writeUsage.labelValues(engine, model).set(tier.share(stats.numPending()));
        readUsage.labelValues(engine, model).set(tier.share(stats.numInRead()));
        storesSkipped.labelValues(engine, model).inc(stats.numSkippedStores() - before.numSkippedStores());
        allocationFailure.labelValues(engine, model).inc(stats.numRefusedStores() - before.numRefusedStores());
    }
}
