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
    private static final double NANOS_PER_MILLI = 1e6;

    public static final LatencyName TTFT = new LatencyName("ttft", "TTFT", "Time to First Token");
    public static final LatencyName TPOT = new LatencyName("tpot", "TPOT", "Time per Output Token (excl. 1st token)");
    public static final LatencyName ITL = new LatencyName("itl", "ITL", "Inter-token Latency");
    public static final LatencyName E2EL = new LatencyName("e2el", "E2EL", "End-to-end Latency");

    /** Adds a statistic to figures, such as {@code mean} or {@code p99}. */
    public void add(String statistic, double nanos, Figures figures) {
        String capitalized = Character.toUpperCase(statistic.charAt(0)) + statistic.substring(1);
        figures.add(keyOf(statistic), capitalized + " " + name, Unit.MILLIS, nanos / NANOS_PER_MILLI);
    }

    /** Adds a block with statistics of this latency. */
    public void addBlock(List<String> statistics, Result result) {
        result.block(title, '-', statistics.stream().map(this::keyOf).toList());
    }

    /** Returns the key of a statistic. */
    public String keyOf(String statistic) {
        return statistic + "_" + key + "_ms";
    }
}
