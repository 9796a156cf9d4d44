package understudy.report;

import java.util.Arrays;
import understudy.report.latency.LatencyStats;
import understudy.report.latency.RadixSort;

/** Figures of the requests of a log that were answered. */
final class CompletedRequests {
    private final long[] arrivalNanos;
    private final long[] firstTokenNanos;
    private final long[] lastTokenNanos;
    private final long[] outputTokens;
    private final RequestLog log;

    CompletedRequests(RequestLog log) {
        this.log = log;
        arrivalNanos = log.completed(log.arrivalNanos);
        firstTokenNanos = log.completed(log.firstTokenNanos);
        lastTokenNanos = log.completed(log.lastTokenNanos);
        outputTokens = log.completed(log.outputTokens);
    }

    long numPromptTokens() {
        return Arrays.stream(log.completed(log.promptTokens)).sum();
    }

    long numOutputTokens() {
        return Arrays.stream(outputTokens).sum();
    }

    LatencyStats ttft() {
        return LatencyStats.between(arrivalNanos, firstTokenNanos);
    }

    LatencyStats e2el() {
        return LatencyStats.between(arrivalNanos, lastTokenNanos);
    }

    LatencyStats queueTime() {
        return LatencyStats.between(log.completed(log.queuedNanos), log.completed(log.scheduledNanos));
    }

    /** Returns the mean times per output token after the first; requests with a single token have none. */
    LatencyStats tpot() {
        double[] nanos = new double[outputTokens.length];
        int size = 0;
        for (int i = 0; i < nanos.length; i++) {
            if (outputTokens[i] > 1) {
                nanos[size++] = (double) (lastTokenNanos[i] - firstTokenNanos[i]) / (outputTokens[i] - 1);
            }
        }
        return LatencyStats.of(Arrays.copyOf(nanos, size));
    }

    /** Sweeps over arrivals and ends in order of time; who ends makes room for who arrives at the same time. */
    long maxConcurrent() {
        long[] arrivals = sorted(arrivalNanos);
        long[] ends = sorted(lastTokenNanos);
        int max = 0;
        int numEnded = 0;
        for (int i = 0; i < arrivals.length; i++) {
            while (numEnded <= i && ends[numEnded] <= arrivals[i]) {
                numEnded++;
            }
            max = Math.max(max, i + 1 - numEnded);
        }
        return max;
    }

    private static long[] sorted(long[] nanos) {
        long[] sorted = nanos.clone();
        RadixSort.sort(sorted);
        return sorted;
    }
}
