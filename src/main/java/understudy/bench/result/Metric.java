package understudy.bench.result;

import it.unimi.dsi.fastutil.doubles.DoubleArrayList;
import it.unimi.dsi.fastutil.doubles.DoubleList;
import java.util.stream.DoubleStream;
import understudy.report.latency.LatencyStats;

/**
 * Latency over many requests, under the names of {@code vllm bench serve}.
 *
 * @param key name in JSON
 * @param name short name on the console
 * @param title heading on the console
 * @param nanos all values
 */
record Metric(String key, String name, String title, DoubleList nanos) {

    Metric(String key, String name, String title, DoubleStream nanos) {
        this(key, name, title, DoubleArrayList.wrap(nanos.toArray()));
    }

    LatencyStats stats() {
        return LatencyStats.of(nanos.toDoubleArray());
    }

    double percentileNanos(double percent) {
        return LatencyStats.percentile(nanos.toDoubleArray(), percent);
    }
}
