package understudy.report;

import java.util.List;

/**
 * Name of a latency, the same for emulated and measured requests.
 *
 * @param key part of the keys of its statistics
 * @param name part of their titles
 * @param title heading of its block
 */
public record LatencyName(String key, String name, String title) {
    public static final LatencyName TTFT = new LatencyName("ttft", "TTFT", "Time to First Token");
    public static final LatencyName TPOT = new LatencyName("tpot", "TPOT", "Time per Output Token (excl. 1st token)");
    public static final LatencyName ITL = new LatencyName("itl", "ITL", "Inter-token Latency");
    public static final LatencyName E2EL = new LatencyName("e2el", "E2EL", "End-to-end Latency");

    /** Adds a statistic to figures, such as {@code mean} or {@code p99}. */
    public void add(String statistic, double nanos, Figures figures) {
        figures.addMillis(statistic, key, name, nanos);
    }

    /** Adds a block with statistics of this latency. */
    public void addBlock(List<String> statistics, Result result) {
        var keys = statistics.stream().map(each -> each + "_" + key + "_ms").toList();
        result.block(title, '-', keys);
    }
}
