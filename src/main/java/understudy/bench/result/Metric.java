package understudy.bench.result;

import it.unimi.dsi.fastutil.doubles.DoubleArrayList;
import it.unimi.dsi.fastutil.doubles.DoubleList;
import java.util.stream.DoubleStream;
import understudy.report.LatencyName;
import understudy.report.latency.LatencyStats;

/**
 * Latency over many requests, under the names of {@code vllm bench serve}.
 *
 * @param nanos all values
 */
record Metric(LatencyName name, DoubleList nanos) {

    Metric(LatencyName name, DoubleStream nanos) {
        this(name, DoubleArrayList.wrap(nanos.toArray()));
    }

    LatencyStats stats() {
        return LatencyStats.of(nanos.toDoubleArray());
    }

    double percentileNanos(double percent) {
        return LatencyStats.percentile(nanos.toDoubleArray(), percent);
    }
}
