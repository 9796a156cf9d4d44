package understudy.workload.servegen;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import understudy.settings.Numbers;
import understudy.workload.files.TraceException;

/**
 * Window of a client in which requests come: a line of a file {@code chunk-N-trace.csv}, which has start, rate,
 * coefficient of variation, family of the gaps, shape and scale.
 *
 * @param index counts all windows of the client, also those without requests
 * @param startSeconds on the clock of the service
 * @param durationSeconds above 0
 * @param perSecond rate of the requests, above 0
 * @param isWeibull whether the gaps are those of a Weibull distribution, and not of a gamma distribution
 * @param shape of that distribution, above 0; its scale follows from the rate
 */
record ClientWindow(
        int index, long startSeconds, long durationSeconds, double perSecond, boolean isWeibull, double shape) {
    private static final long USUAL_SECONDS = 600;
    private static final int NUM_FIELDS = 6;
    private static final double MAX_SECONDS = 1e9;

    /** Below it gaps would differ by more than a double can hold. */
    private static final double MIN_SHAPE = 0.01;

    /** Reads the windows of a file, in order of time, without those that have no requests. */
    static List<ClientWindow> read(String file, byte[] content) {
        var lines = new String(content, StandardCharsets.UTF_8).lines().toList();
        var windows = new ArrayList<ClientWindow>();
        long duration = USUAL_SECONDS;
        for (int i = 0; i < lines.size(); i++) {
            var line = new Line(file, i + 1, List.of(lines.get(i).split(",", -1)));
            if (i + 1 < lines.size()) {
                var next = new Line(file, i + 2, List.of(lines.get(i + 1).split(",", -1)));
                duration = next.start() - line.start();
            }
            if (duration <= 0) {
                throw new TraceException(file, i + 2, "the window starts no later than the one above it");
            }
            if (line.rate() > 0) {
                windows.add(new ClientWindow(
                        i, line.start(), duration, line.rate(), line.isWeibull(), line.number(4, "shape", MIN_SHAPE)));
            }
        }
        return windows;
    }

    /** Returns the requests that its rate stands for. */
    double numRequests() {
        return perSecond * durationSeconds;
    }

    /** A line in its parts. */
    private record Line(String file, long number, List<String> fields) {
        long start() {
            if (fields.size() != NUM_FIELDS) {
                throw new TraceException(
                        file,
                        number,
                        "has " + fields.size() + " fields, must be start, rate, cv, family, shape and scale");
            }
            return (long) number(0, "start", 0);
        }

        double rate() {
            return number(1, "rate", 0);
        }

        boolean isWeibull() {
            String family = fields.get(3).strip();
            if (!family.equals("Gamma") && !family.equals("Weibull")) {
                throw new TraceException(file, number, "the family is " + family + ", must be Gamma or Weibull");
            }
            return family.equals("Weibull");
        }

        double number(int field, String name, double min) {
            double number = Numbers.parse(fields.get(field).strip());
            if (!(number >= min && number <= MAX_SECONDS)) {
                throw new TraceException(
                        file,
                        number(),
                        name + " is " + fields.get(field) + ", must be a number from " + min + " to 1e9");
            }
            return number;
        }
    }
}
