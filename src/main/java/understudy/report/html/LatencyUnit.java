package understudy.report.html;

import java.util.Arrays;

/** Unit in which a chart shows latencies: seconds where one of them is as long, else milliseconds. */
public enum LatencyUnit {
    MILLIS("ms", 1e6),
    SECONDS("s", 1e9);

    private final String symbol;
    private final double nanos;

    LatencyUnit(String symbol, double nanos) {
        this.symbol = symbol;
        this.nanos = nanos;
    }

    /** Returns the unit for latencies in nanoseconds, of which those that are not a number are gaps. */
    public static LatencyUnit of(double... latencies) {
        return Arrays.stream(latencies).anyMatch(each -> each >= SECONDS.nanos) ? SECONDS : MILLIS;
    }

    /** Returns latencies, given in nanoseconds, in this unit. */
    public double[] convert(double[] latencies) {
        return Arrays.stream(latencies).map(each -> each / nanos).toArray();
    }

    /** Returns the axis of a quantity in this unit. */
    public HtmlChart.Axis axis(String quantity) {
        return new HtmlChart.Axis(quantity, symbol);
    }
}
