package understudy.latency;

import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;

/**
 * Fits the five numbers of {@link ProfileLatency} to measured steps: the sum of squared differences of logarithms is
 * made small, so that a short step counts as much as a long one. A number that no measurement tells anything about is
 * 0.
 */
public final class ProfileFit {
    private static final int NUM_PARAMETERS = 5;
    private static final double USUAL_BATCH = 2300;
    private static final double KV_TOKEN_NANOS = 20;
    private static final double PAIR_NANOS = 3;

    private final List<Measurement> measurements;
    private final boolean[] isFitted = new boolean[NUM_PARAMETERS];

    /** One measured step: its batch, and how long it took, in nanoseconds above 0. */
    public record Measurement(BatchShape batch, double nanos) {}

    private ProfileFit(List<Measurement> measurements) {
        this.measurements = measurements;
        isFitted[0] = true;
        isFitted[1] = true;
        isFitted[2] = any(batch -> batch.numDecodes() > 0 && batch.numChunks() == 0);
        isFitted[3] = any(batch -> batch.numChunks() > 0);
        isFitted[4] = any(batch -> batch.numDecodes() > 0 && batch.numChunks() > 0);
    }

    /** Returns the fitted device; there must be at least one measurement. */
    public static ProfileLatency fit(List<Measurement> measurements) {
        if (measurements.isEmpty()) {
            throw new IllegalArgumentException("no measurements");
        }
        return new ProfileFit(measurements).fit();
    }

    private ProfileLatency fit() {
        double shortest =
                measurements.stream().mapToDouble(Measurement::nanos).min().orElseThrow();
        double longest =
                measurements.stream().mapToDouble(Measurement::nanos).max().orElseThrow();
        double[] guess = {shortest, longest / USUAL_BATCH, KV_TOKEN_NANOS, PAIR_NANOS, KV_TOKEN_NANOS};
        return device(PositiveFit.fit(fittedOf(guess), this::loss));
    }

    private double loss(double[] parameters) {
        var device = device(parameters);
        double sum = 0;
        for (var measurement : measurements) {
            sum += PositiveFit.squaredLog(device.nanos(measurement.batch), measurement.nanos);
        }
        return sum / measurements.size();
    }

    private double[] fittedOf(double[] all) {
        var fitted = new double[NUM_PARAMETERS];
        int count = 0;
        for (int i = 0; i < NUM_PARAMETERS; i++) {
            if (isFitted[i]) {
                fitted[count++] = all[i];
            }
        }
        return Arrays.copyOf(fitted, count);
    }

    private ProfileLatency device(double[] fitted) {
        var all = new double[NUM_PARAMETERS];
        int next = 0;
        for (int i = 0; i < NUM_PARAMETERS; i++) {
            all[i] = isFitted[i] ? fitted[next++] : 0;
        }
        return new ProfileLatency(all[0], all[1], all[2], all[3], all[4]);
    }

    private boolean any(Predicate<BatchShape> condition) {
        return measurements.stream().map(Measurement::batch).anyMatch(condition);
    }
}
