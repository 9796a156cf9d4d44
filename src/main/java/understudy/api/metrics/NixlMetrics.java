package understudy.api.metrics;

import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.Histogram;
import java.util.List;
import understudy.transfer.TransferCost;
import understudy.transfer.TransferCounts;

/** Metrics of reads from other replicas ({@code nixl/stats.py}); replicas have them whose connector does that. */
final class NixlMetrics {
    private final TransferCost cost;
    private final Histogram seconds;
    private final Histogram postSeconds;
    private final Histogram bytes;
    private final Histogram descriptors;
    private final Counter failures;
    private final Counter failedNotifications;
    private final Counter expired;

    /** @param cost says how long it takes to post descriptors */
    NixlMetrics(MetricFamilies make, TransferCost cost) {
        this.cost = cost;
        seconds = make.histogram(
                "nixl_xfer_time_seconds",
                "Histogram of transfer duration for NIXL KV Cache transfers.",
                .005,
                .01,
                .025,
                .05,
                .075,
                .1,
                .2,
                .3,
                .5,
                .75,
                1,
                5);
        postSeconds = make.histogram(
                "nixl_post_time_seconds",
                "Histogram of transfer post time for NIXL KV Cache transfers.",
                .001,
                .005,
                .01,
                .025,
                .05,
                .075,
                .1,
                .2,
                .3,
                .5,
                .75,
                1,
                5);
        bytes = make.histogram(
                "nixl_bytes_transferred",
                "Histogram of bytes transferred per NIXL KV Cache transfers.",
                powersOfFour(1 << 11, 12));
        descriptors = make.histogram(
                "nixl_num_descriptors",
                "Histogram of number of descriptors per NIXL  KV Cache transfers.",
                10,
                20,
                30,
                50,
                75,
                100,
                200,
                400,
                1000,
                2000,
                4000,
                10000,
                20000,
                50000);
        failures = make.counter("nixl_num_failed_transfers", "Number of failed NIXL KV Cache transfers.");
        failedNotifications =
                make.counter("nixl_num_failed_notifications", "Number of failed NIXL KV Cache notifications.");
        expired = make.counter(
                "nixl_num_kv_expired_reqs",
                "Number of requests that had their KV expire. NOTE: This metric is tracked on the P instance.");
    }

    /** Returns so many numbers, each four times the one before. */
    private static double[] powersOfFour(double first, int count) {
        double[] powers = new double[count];
        for (int i = 0; i < count; i++) {
            powers[i] = first * (1L << (2 * i));
        }
        return powers;
    }

    /** Shows the series of a replica. */
    void show(String... labels) {
        List.of(seconds, postSeconds, bytes, descriptors).forEach(family -> family.initLabelValues(labels));
        List.of(failures, failedNotifications, expired).forEach(family -> family.initLabelValues(labels));
    }

    /** Counts the transfers since the last time. */
    void on(TransferCounts counts, String... labels) {
        var reads = counts.reads();
        for (int i = 0; i < reads.nanos().size(); i++) {
            int numDescriptors = (int) reads.descriptors().getLong(i);
            seconds.labelValues(labels).observe(reads.nanos().getLong(i) / 1e9);
            postSeconds.labelValues(labels).observe(cost.beforeNanos(false, numDescriptors) / 1e9);
            bytes.labelValues(labels).observe((double) reads.bytes().getLong(i));
            descriptors.labelValues(labels).observe(numDescriptors);
        }
        failures.labelValues(labels).inc(reads.numFailed());
        expired.labelValues(labels).inc(counts.numExpired());
    }
}
