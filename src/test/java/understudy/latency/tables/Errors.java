package understudy.latency.tables;

import java.util.ArrayList;
import java.util.List;

/** Absolute errors of computed times, in percent of measured ones. */
final class Errors {
    private final List<Double> percents = new ArrayList<>();

    void add(double micros, double measuredMicros) {
        percents.add(100 * Math.abs(micros / measuredMicros - 1));
    }

    double median() {
        return median(percents);
    }

    /** Returns the upper median, and sorts the list. */
    static double median(List<Double> values) {
        values.sort(null);
        return values.get(values.size() / 2);
    }
}
