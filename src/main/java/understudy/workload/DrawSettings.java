package understudy.workload;

import java.util.Arrays;
import understudy.settings.Numbers;
import understudy.settings.Section;

/** Sections that describe draws: lengths in tokens, and durations. */
public final class DrawSettings {
    private static final double NANOS_PER_SECOND = 1e9;

    private enum LengthKind {
        FIXED,
        UNIFORM,
        NORMAL,
        LOGNORMAL,
        EXPONENTIAL,
        HISTOGRAM
    }

    private DrawSettings() {}

    /** Reads whole numbers of at least 1 and at most {@code limit}. */
    public static WholeNumbers wholeNumbers(Section section, int limit) {
        if (section.choice("kind", LengthKind.class) == LengthKind.HISTOGRAM) {
            return histogram(section, limit);
        }
        int min = section.wholeNumber("min", 1, limit);
        int max = section.wholeNumber("max", min, limit);
        var kind = section.choice("kind", LengthKind.class);
        if (kind == LengthKind.FIXED) {
            return WholeNumbers.fixed(section.wholeNumber("mean", 1, limit));
        }
        if (kind == LengthKind.UNIFORM) {
            return WholeNumbers.uniform(min, max);
        }
        double mean = section.number("mean", 0, limit);
        double stddev = section.number("stddev", 0, limit);
        return new WholeNumbers(distribution(section, kind, min, max, mean, stddev), min, max);
    }

    /** A range has the whole numbers above its lower bound, up to its upper one. */
    private static WholeNumbers histogram(Section section, int limit) {
        if (!section.has("bounds")) {
            throw section.unusable("kind", "which only workload.lengths has");
        }
        double[] bounds = numbers(section, "bounds", limit);
        double[] counts = numbers(section, "counts", Double.MAX_VALUE);
        if (counts.length == 0
                || bounds.length != counts.length + 1
                || !(Arrays.stream(counts).sum() > 0)) {
            throw section.unusable("counts", "must have one number less than bounds, and one above 0");
        }
        for (int i = 0; i < bounds.length; i++) {
            if (bounds[i] != Math.rint(bounds[i]) || (i > 0 && bounds[i] <= bounds[i - 1])) {
                throw section.unusable("bounds", "must be whole numbers that rise");
            }
        }
        double[] between = Arrays.stream(bounds).map(bound -> bound + 0.5).toArray();
        int min = (int) bounds[0] + 1;
        return new WholeNumbers(new Distribution.Histogram(between, counts), min, (int) bounds[bounds.length - 1]);
    }

    private static double[] numbers(Section section, String key, double most) {
        double[] numbers =
                section.texts(key).stream().mapToDouble(Numbers::parse).toArray();
        if (!Arrays.stream(numbers).allMatch(number -> number >= 0 && number <= most)) {
            throw section.unusable(
                    key, "must be numbers from 0" + (most < Double.MAX_VALUE ? " to " + (long) most : ""));
        }
        return numbers;
    }

    /** Reads durations, whose draws are in seconds. */
    public static Distribution seconds(Section section) {
        double min = section.nanos("min") / NANOS_PER_SECOND;
        double max = section.nanos("max") / NANOS_PER_SECOND;
        if (max < min) {
            throw section.unusable("max", "must be at least min");
        }
        double mean = section.nanos("mean") / NANOS_PER_SECOND;
        double stddev = section.nanos("stddev") / NANOS_PER_SECOND;
        var kind = section.choice("kind", LengthKind.class);
        var distribution = distribution(section, kind, min, max, mean, stddev);
        return kind == LengthKind.FIXED ? distribution : new Distribution.Clamped(distribution, min, max);
    }

    private static Distribution distribution(
            Section section, LengthKind kind, double min, double max, double mean, double stddev) {
        return switch (kind) {
            case FIXED -> new Distribution.Fixed(mean);
            case UNIFORM -> new Distribution.Uniform(min, max);
            case NORMAL -> new Distribution.Normal(mean, stddev);
            case EXPONENTIAL -> new Distribution.Exponential(mean);
            case HISTOGRAM -> throw section.unusable("kind", "which only workload.lengths has");
            case LOGNORMAL -> {
                if (mean == 0) {
                    throw section.unusable("mean", "must be above 0 for lognormal");
                }
                yield new Distribution.LogNormal(mean, stddev);
            }
        };
    }
}
