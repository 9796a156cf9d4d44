package understudy.app;

import java.nio.file.Files;
import java.nio.file.Path;
import understudy.workload.AzureTraceReader;
import understudy.workload.CsvTraceReader;
import understudy.workload.Distribution;
import understudy.workload.GeneratedWorkload;
import understudy.workload.MooncakeTraceReader;
import understudy.workload.OutputLimit;
import understudy.workload.RandomStreams;
import understudy.workload.TraceReader;
import understudy.workload.TraceWorkload;
import understudy.workload.WholeNumbers;
import understudy.workload.Workload;

/** The section {@code workload}. */
final class WorkloadSettings {
    private static final double NANOS_PER_SECOND = 1e9;
    private static final int MAX_TOKENS = 100_000_000;
    private static final int MAX_TURNS = 1_000_000;

    private enum Kind {
        GENERATED,
        MOONCAKE,
        CSV,
        AZURE
    }

    private enum ArrivalKind {
        POISSON,
        CONSTANT,
        GAMMA
    }

    private enum LengthKind {
        FIXED,
        UNIFORM,
        NORMAL,
        LOGNORMAL,
        EXPONENTIAL
    }

    private WorkloadSettings() {}

    /** Opens the workload; the caller closes it. */
    static Workload open(Section workload, RandomStreams streams, int maxModelLen) {
        var outputLimit = workload.bool("ignore-eos") ? OutputLimit.MAX_TOKENS : OutputLimit.END_OF_SEQUENCE;
        var kind = workload.choice("kind", Kind.class);
        if (kind == Kind.GENERATED) {
            return new GeneratedWorkload(generated(workload, outputLimit, maxModelLen), streams);
        }
        var options = new TraceWorkload.Options(
                workload.positive("time-scale", "inf"),
                workload.wholeNumber("limit", 0L, Long.MAX_VALUE),
                outputLimit,
                maxModelLen);
        var file = traceFile(workload);
        int blockTokens = workload.wholeNumber("csv-block-tokens", 1, MAX_TOKENS);
        TraceReader reader = switch (kind) {
            case MOONCAKE -> new MooncakeTraceReader(file);
            case CSV -> new CsvTraceReader(file, blockTokens);
            default -> new AzureTraceReader(file);
        };
        return new TraceWorkload(reader, file.toString(), options);
    }

    private static Path traceFile(Section workload) {
        String trace = workload.text("trace");
        if (trace.isEmpty()) {
            throw workload.unusable("trace", "but this kind of workload needs a file: --set workload.trace=PATH");
        }
        var file = Path.of(trace);
        if (!Files.isRegularFile(file)) {
            throw workload.unusable("trace", "which is not a file");
        }
        return file;
    }

    private static GeneratedWorkload.Options generated(Section workload, OutputLimit outputLimit, int maxModelLen) {
        var arrivals = workload.section("arrivals");
        var lengths = workload.section("lengths");
        var groups = workload.section("prefix-groups");
        var sessions = workload.section("sessions");
        return new GeneratedWorkload.Options(
                workload.wholeNumber("requests", 1L, Long.MAX_VALUE),
                arrivals.positive("request-rate", "inf"),
                burstiness(arrivals),
                wholeNumbers(lengths.section("prompt"), MAX_TOKENS),
                wholeNumbers(lengths.section("output"), MAX_TOKENS),
                groups.wholeNumber("count", 0, 1_000_000),
                wholeNumbers(groups.section("length"), MAX_TOKENS),
                wholeNumbers(sessions.section("turns"), MAX_TURNS),
                thinkTimeSeconds(sessions.section("think-time")),
                outputLimit,
                maxModelLen);
    }

    private static double burstiness(Section arrivals) {
        return switch (arrivals.choice("kind", ArrivalKind.class)) {
            case POISSON -> 1;
            case CONSTANT -> Double.POSITIVE_INFINITY;
            case GAMMA -> arrivals.positive("burstiness", "inf");
        };
    }

    private static WholeNumbers wholeNumbers(Section section, int limit) {
        int min = section.wholeNumber("min", 1, limit);
        int max = section.wholeNumber("max", min, limit);
        double mean = section.number("mean", 0, limit);
        double stddev = section.number("stddev", 0, limit);
        return new WholeNumbers(distribution(section, min, max, mean, stddev), min, max);
    }

    private static Distribution thinkTimeSeconds(Section section) {
        double min = section.nanos("min") / NANOS_PER_SECOND;
        double max = section.nanos("max") / NANOS_PER_SECOND;
        if (max < min) {
            throw section.unusable("max", "must be at least min");
        }
        double mean = section.nanos("mean") / NANOS_PER_SECOND;
        double stddev = section.nanos("stddev") / NANOS_PER_SECOND;
        return new Distribution.Clamped(distribution(section, min, max, mean, stddev), min, max);
    }

    private static Distribution distribution(Section section, double min, double max, double mean, double stddev) {
        return switch (section.choice("kind", LengthKind.class)) {
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
