package understudy.adopt;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;

/**
 * A distribution of lengths for a histogram: a named one if it comes near enough, else the histogram itself, with lengths in
 * each range so that the sum is the measured one.
 *
 * @param settings of a section of lengths
 * @param words what it is, and how far from the histogram
 * @param error largest difference of the shares of lengths up to a bound
 */
record LengthFit(String settings, String words, double error) {
    /** A named distribution is this near, besides what chance makes of so many lengths. */
    private static final double NEAR = 0.01;

    /** Kolmogorov's 80 % quantile, about: a sample's distance from what it is drawn of, times the root of its size. */
    private static final double CHANCE = 0.8;

    private static final int NUM_STEPS = 160;
    private static final double LEAST_SPREAD = 0.02;
    private static final double MOST_SPREAD = 8;

    /** How far the mean of a named distribution may be from the measured one; that of a bell with a cut-off end further. */
    private static final double NEAR_MEAN = 0.03;

    private static final double NEAR_MEAN_OF_BELL = 0.1;

    private enum Kind {
        EXPONENTIAL,
        UNIFORM,
        NORMAL,
        LOGNORMAL
    }

    private record Candidate(Kind kind, double mean, double stddev, double error) {}

    /**
     * Fits a distribution.
     *
     * @param limit of lengths
     */
    static LengthFit of(LengthHistogram histogram, int limit) {
        long numRanges =
                DoubleStream.of(histogram.counts()).filter(count -> count > 0).count();
        String measured = String.format(
                Locale.ROOT, "of %.0f in %d ranges, mean %.1f", histogram.total(), numRanges, histogram.mean());
        if (numRanges == 1) {
            long mean = Math.max(1, Math.round(histogram.mean()));
            return new LengthFit("{ kind = fixed, mean = " + mean + " }", measured + ": all alike", 0);
        }
        var best = best(histogram, limit);
        double allowed = NEAR + CHANCE / Math.sqrt(histogram.total());
        String error = String.format(
                Locale.ROOT, "%s is off by %.1f %% of the lengths at most", name(best.kind), 100 * best.error);
        if (best.error <= allowed) {
            return new LengthFit(named(best, limit), measured + ": " + error, best.error);
        }
        return new LengthFit(asItIs(histogram, limit), measured + ": no named distribution fits (" + error + ")", 0);
    }

    private static String name(Kind kind) {
        return kind.name().toLowerCase(Locale.ROOT);
    }

    private static Candidate best(LengthHistogram histogram, int limit) {
        double[] measured = histogram.cumulative();
        var best = new Candidate(Kind.EXPONENTIAL, histogram.mean(), histogram.mean(), 1);
        for (var kind : Kind.values()) {
            for (double mean : means(kind, histogram.mean())) {
                for (int i = 0; i <= (kind == Kind.EXPONENTIAL ? 0 : NUM_STEPS); i++) {
                    double spread = LEAST_SPREAD * Math.pow(MOST_SPREAD / LEAST_SPREAD, (double) i / NUM_STEPS);
                    double error = error(kind, mean, mean * spread, histogram, measured, limit);
                    if (error < best.error) {
                        best = new Candidate(kind, mean, mean * spread, error);
                    }
                }
            }
        }
        return best;
    }

    private static double[] means(Kind kind, double mean) {
        double most = kind == Kind.NORMAL ? NEAR_MEAN_OF_BELL : NEAR_MEAN;
        return IntStream.rangeClosed(-10, 10)
                .mapToDouble(i -> mean * (1 + most * i / 10))
                .toArray();
    }

    private static double error(
            Kind kind, double mean, double stddev, LengthHistogram histogram, double[] measured, int limit) {
        double error = 0;
        for (int i = 0; i < measured.length; i++) {
            double bound = histogram.bounds()[i];
            double share = bound >= limit ? 1 : bound < 1 ? 0 : share(kind, mean, stddev, bound + 0.5);
            error = Math.max(error, Math.abs(share - measured[i]));
        }
        return error;
    }

    /** Returns the share of a distribution up to a number. */
    private static double share(Kind kind, double mean, double stddev, double number) {
        return switch (kind) {
            case EXPONENTIAL -> 1 - Math.exp(-number / mean);
            case NORMAL -> normal((number - mean) / stddev);
            case LOGNORMAL -> {
                double variance = Math.log1p(stddev * stddev / (mean * mean));
                yield normal((Math.log(number / mean) + variance / 2) / Math.sqrt(variance));
            }
            case UNIFORM -> {
                double least = least(mean, stddev) - 0.5;
                double most = most(mean, stddev) + 0.5;
                yield Math.min(1, Math.max(0, (number - least) / (most - least)));
            }
        };
    }

    /** Bounds of a uniform distribution of such a spread. */
    private static long least(double mean, double stddev) {
        return Math.max(1, Math.round(mean - stddev * Math.sqrt(3)));
    }

    private static long most(double mean, double stddev) {
        return Math.max(least(mean, stddev), Math.round(2 * mean - least(mean, stddev)));
    }

    /** The normal distribution by formula 26.2.17 of Abramowitz and Stegun, off by 7.5e-8 at most. */
    private static double normal(double z) {
        double t = 1 / (1 + 0.2316419 * Math.abs(z));
        double series =
                t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
        double tail = Math.exp(-z * z / 2) / Math.sqrt(2 * Math.PI) * series;
        return z > 0 ? 1 - tail : tail;
    }

    private static String named(Candidate fit, int limit) {
        if (fit.kind == Kind.UNIFORM) {
            return "{ kind = uniform, min = " + least(fit.mean, fit.stddev) + ", max = "
                    + Math.min(limit, most(fit.mean, fit.stddev)) + " }";
        }
        String spread = fit.kind == Kind.EXPONENTIAL ? "" : String.format(Locale.ROOT, ", stddev = %.1f", fit.stddev);
        return String.format(
                Locale.ROOT,
                "{ kind = %s, mean = %.1f%s, min = 1, max = %d }",
                name(fit.kind),
                fit.mean,
                spread,
                limit);
    }

    /**
     * Within ranges lengths are spread so that their mean is at the same place of each, the one that gives the sum: over the
     * whole range with two densities, or over a part of it if the mean is near a bound.
     */
    private static String asItIs(LengthHistogram histogram, int limit) {
        double lowest = 0;
        double widths = 0;
        for (int i = 0; i < histogram.counts().length; i++) {
            double width = Math.min(limit, histogram.bounds()[i]) - histogram.lower(i);
            lowest += histogram.counts()[i] * histogram.lower(i);
            widths += histogram.counts()[i] * width;
        }
        double place = Math.min(1, Math.max(0, (histogram.sum() - lowest) / widths));
        var bounds = new ArrayList<Long>();
        var counts = new ArrayList<Double>();
        bounds.add(0L);
        for (int i = 0; i < histogram.counts().length; i++) {
            add(
                    bounds,
                    counts,
                    Math.round(Math.min(limit, histogram.bounds()[i])),
                    histogram.counts()[i],
                    place);
        }
        return "{ kind = histogram, bounds = " + bounds + ", counts = "
                + counts.stream()
                        .map(count -> String.format(Locale.ROOT, "%.1f", count))
                        .collect(Collectors.joining(", ", "[", "]"))
                + " }";
    }

    private static void add(List<Long> bounds, List<Double> counts, long upper, double count, double place) {
        long lower = bounds.get(bounds.size() - 1);
        if (upper <= lower) {
            return;
        }
        boolean isInMiddle = place >= 0.25 && place <= 0.75;
        double cut = isInMiddle ? 0.5 : place < 0.25 ? 2 * place : 1 - 2 * (1 - place);
        long between = lower + Math.round(cut * (upper - lower));
        double below = isInMiddle ? 2 * (0.75 - place) : place < 0.25 ? 1 : 0;
        if (count > 0 && between > lower && between < upper) {
            bounds.add(between);
            counts.add(count * below);
            bounds.add(upper);
            counts.add(count * (1 - below));
        } else {
            bounds.add(upper);
            counts.add(count);
        }
    }
}
