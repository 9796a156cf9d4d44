package understudy.plan;

import java.util.Locale;
import understudy.sweep.SweepRow;

/**
 * What holds a deployment back, by the limit that it uses most of and by the figures of its runs.
 *
 * @param reason the figures, in words
 */
public record Bottleneck(Kind kind, String reason) {
    /** Parts of a deployment that may be too small. */
    public enum Kind {
        /** KV cache: requests wait for blocks, or lose them. */
        MEMORY,
        /** Computing prompts. */
        PREFILL,
        /** Steps that decode. */
        DECODE,
        /** KV on its way from one replica to another. */
        NETWORK
    }

    /** Share of the KV cache from which on it counts as full. */
    private static final double FULL = 0.95;

    /** Preemptions for each request from which on memory is short, whatever else is. */
    private static final double MANY_PREEMPTIONS = 0.01;

    private static final double HALF = 0.5;

    /** Finds it. */
    static Bottleneck of(SweepRow row, Judgement.Use tightest) {
        double preemptions = figure(row, "num_preemptions") / Math.max(1, figure(row, "completed"));
        double usage = figure(row, "peak_kv_cache_usage");
        double queue = figure(row, "mean_queue_time_ms");
        double ttft = figure(row, "mean_ttft_ms");
        double transfer = figure(row, "kv_transfers.mean_transfer_ms_per_request");
        if (preemptions > MANY_PREEMPTIONS) {
            return new Bottleneck(Kind.MEMORY, text("%.1f preemptions for every 100 requests", 100 * preemptions));
        }
        if (usage >= FULL && queue > HALF * ttft) {
            return new Bottleneck(
                    Kind.MEMORY,
                    text(
                            "the KV cache is full (%.0f %%), and requests wait %.0f of %.0f ms",
                            100 * usage, queue, ttft));
        }
        double decoding = figure(row, "mean_e2el_ms") - ttft;
        boolean isAboutFirst =
                tightest.key().endsWith("_ttft_ms") || (!tightest.key().endsWith("_tpot_ms") && ttft > decoding);
        return isAboutFirst ? ofFirstToken(transfer, queue, ttft) : ofFurtherTokens(row);
    }

    private static Bottleneck ofFirstToken(double transfer, double queue, double ttft) {
        double computing = ttft - queue - transfer;
        return transfer > Math.max(queue, computing)
                ? new Bottleneck(Kind.NETWORK, text("KV is under way for %.0f of %.0f ms", transfer, ttft))
                : new Bottleneck(
                        Kind.PREFILL,
                        text("of a mean TTFT of %.0f ms requests wait %.0f ms for others to be computed", ttft, queue));
    }

    /** The median gap is that of steps without prompts, as long as most steps are. */
    private static Bottleneck ofFurtherTokens(SweepRow row) {
        double median = figure(row, "median_itl_ms");
        double mean = figure(row, "mean_itl_ms");
        return mean > (1 + HALF) * median
                ? new Bottleneck(
                        Kind.PREFILL,
                        text(
                                "prompts share steps with answers: the median gap is %.1f ms, the mean %.1f",
                                median, mean))
                : new Bottleneck(
                        Kind.DECODE,
                        text("most gaps between tokens are as long as their mean: %.1f and %.1f ms", median, mean));
    }

    private static double figure(SweepRow row, String key) {
        return row.figure(key).map(SweepRow.Figure::mean).orElse(0.0);
    }

    private static String text(String format, Object... values) {
        return String.format(Locale.ROOT, format, values);
    }
}
