package understudy.workload;

import understudy.settings.Section;

/** Sections that describe draws: lengths in tokens, and durations. */
public final class DrawSettings {
    private static final double NANOS_PER_SECOND = 1e9;

    private enum LengthKind {
        FIXED,
        UNIFORM,
        NORMAL,
        LOGNORMAL,
        EXPONENTIAL
    }

    private DrawSettings() {}

    /** Reads whole numbers of at least 1 and at most {@code limit}. */
    public static WholeNumbers wholeNumbers(Section section, int limit) {
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
            case LOGNORMAL -> {
                if (mean == 0) {
                    throw section.unusable("mean", "must be above 0 for lognormal");
                }
                yield new Distribution.LogNormal(mean, stddev);
            }
        };
    }
}
