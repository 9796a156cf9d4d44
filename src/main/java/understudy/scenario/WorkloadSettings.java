package understudy.scenario;

import java.nio.file.Path;
import java.util.Set;
import java.util.function.Function;
import understudy.workload.BurstWorkload;
import understudy.workload.ConcurrencyLimit;
import understudy.workload.Distribution;
import understudy.workload.Durations;
import understudy.workload.GeneratedWorkload;
import understudy.workload.Numbers;
import understudy.workload.OutputLimit;
import understudy.workload.PrefixGroups;
import understudy.workload.RandomStreams;
import understudy.workload.RequestRate;
import understudy.workload.WholeNumbers;
import understudy.workload.Workload;
import understudy.workload.trace.AzureTraceReader;
import understudy.workload.trace.CsvTraceReader;
import understudy.workload.trace.MooncakeTraceReader;
import understudy.workload.trace.TraceException;
import understudy.workload.trace.TraceReader;
import understudy.workload.trace.TraceWorkload;

/** The section {@code workload}. */
final class WorkloadSettings {
    private static final double NANOS_PER_SECOND = 1e9;
    private static final int MAX_TOKENS = 100_000_000;
    private static final int MAX_TURNS = 1_000_000;
    private static final int MAX_PROMPTS_IN_TURN = 10_000_000;
    private static final long MAX_REQUESTS = 1_000_000_000_000L;
    private static final double MAX_ARRIVAL_SECONDS = 1e8;
    private static final double MIN_BURSTINESS = 1e-3;
    private static final double MIN_TIME_SCALE = 1e-9;
    private static final double MAX_TIME_SCALE = 1e9;

    private enum Kind {
        GENERATED,
        BURST,
        MOONCAKE,
        CSV,
        AZURE
    }

    private enum ArrivalKind {
        POISSON,
        CONSTANT,
        GAMMA
    }

    private enum PromptOrder {
        DRAWN,
        IN_TURN
    }

    private enum LengthKind {
        FIXED,
        UNIFORM,
        NORMAL,
        LOGNORMAL,
        EXPONENTIAL
    }

    private WorkloadSettings() {}

    /** Reads and checks the section; a trace's rows are read when the workload is opened. */
    static Workload.Source read(Section workload, RandomStreams streams, int maxModelLen) {
        int maxConcurrency = workload.wholeNumber("max-concurrency", 0, Integer.MAX_VALUE);
        var unlimited = unlimited(workload, streams, maxModelLen);
        return maxConcurrency == 0 ? unlimited : () -> new ConcurrencyLimit(unlimited.open(), maxConcurrency);
    }

    private static Workload.Source unlimited(Section workload, RandomStreams streams, int maxModelLen) {
        var outputLimit = workload.bool("ignore-eos") ? OutputLimit.MAX_TOKENS : OutputLimit.END_OF_SEQUENCE;
        // Everything is checked, also what this kind of workload does not use.
        var kind = workload.choice("kind", Kind.class);
        var generated = generated(workload, outputLimit, maxModelLen);
        var burst = burst(workload, outputLimit, maxModelLen);
        var options = new TraceWorkload.Options(
                workload.number("time-scale", MIN_TIME_SCALE, MAX_TIME_SCALE),
                workload.wholeNumber("limit", 0L, Long.MAX_VALUE),
                outputLimit,
                maxModelLen);
        int blockTokens = workload.wholeNumber("csv-block-tokens", 1, MAX_TOKENS);
        return switch (kind) {
            case GENERATED -> () -> new GeneratedWorkload(generated, streams);
            case BURST -> () -> new BurstWorkload(burst, streams);
            case MOONCAKE -> trace(workload, options, MooncakeTraceReader::new);
            case CSV -> trace(workload, options, file -> new CsvTraceReader(file, blockTokens));
            case AZURE -> trace(workload, options, AzureTraceReader::new);
        };
    }

    private static Workload.Source trace(
            Section workload, TraceWorkload.Options options, Function<Path, TraceReader> readers) {
        var file = workload.file("trace", "but this kind of workload needs a file");
        return () -> {
            var reader = readers.apply(file);
            try {
                return new TraceWorkload(reader, file.toString(), options);
            } catch (TraceException e) {
                reader.close();
                throw e;
            }
        };
    }

    private static GeneratedWorkload.Options generated(Section workload, OutputLimit outputLimit, int maxModelLen) {
        var arrivals = workload.section("arrivals");
        var lengths = workload.section("lengths");
        var sessions = workload.section("sessions");
        long requests = workload.wholeNumber("requests", 1L, MAX_REQUESTS);
        return new GeneratedWorkload.Options(
                requests,
                rate(arrivals, requests),
                burstiness(arrivals),
                wholeNumbers(lengths.section("prompt"), MAX_TOKENS),
                wholeNumbers(lengths.section("output"), MAX_TOKENS),
                prefixGroups(workload.section("prefix-groups")),
                wholeNumbers(sessions.section("turns"), MAX_TURNS),
                sessions.number("unexpected-prompt-probability", 0, 1),
                seconds(sessions.section("think-time")),
                workload.wholeNumber("priorities", 1, 1_000_000),
                workload.wholeNumber("tenants", 1, 1_000_000),
                outputLimit,
                maxModelLen);
    }

    private static PrefixGroups.Options prefixGroups(Section groups) {
        int count = groups.wholeNumber("count", 0, 1_000_000);
        int promptsPerGroup = groups.wholeNumber("prompts-per-group", 0, 1_000_000);
        if (promptsPerGroup > 0 && count == 0) {
            throw groups.unusable("prompts-per-group", "but workload.prefix-groups.count is 0");
        }
        boolean inTurn = groups.choice("prompt-order", PromptOrder.class) == PromptOrder.IN_TURN;
        long numPrompts = (long) count * promptsPerGroup;
        if (inTurn && (numPrompts == 0 || numPrompts > MAX_PROMPTS_IN_TURN)) {
            throw groups.unusable(
                    "prompt-order",
                    "which needs 1 to " + MAX_PROMPTS_IN_TURN + " prompts of all groups, not " + numPrompts);
        }
        return new PrefixGroups.Options(
                count, wholeNumbers(groups.section("length"), MAX_TOKENS), promptsPerGroup, inTurn);
    }

    private static BurstWorkload.Options burst(Section workload, OutputLimit outputLimit, int maxModelLen) {
        var burst = workload.section("burst");
        var lengths = workload.section("lengths");
        return new BurstWorkload.Options(
                workload.wholeNumber("requests", 1L, MAX_REQUESTS),
                burst.wholeNumber("distinct-prompts", 0, 1_000_000),
                wholeNumbers(lengths.section("prompt"), MAX_TOKENS),
                wholeNumbers(lengths.section("output"), MAX_TOKENS),
                burst.nanos("first-submit") / NANOS_PER_SECOND,
                seconds(burst.section("submit")),
                burst.nanos("pause") / NANOS_PER_SECOND,
                outputLimit,
                maxModelLen);
    }

    private static RequestRate rate(Section arrivals, long requests) {
        var constant = RequestRate.constant(arrivals.positive("request-rate", "inf"));
        var rate = constant.changing(arrivals.entries("profile").stream()
                .map(WorkloadSettings::piece)
                .toList());
        boolean changes = rate.pieces().size() > 1;
        if (!(requests / rate.lastPerSecond() <= MAX_ARRIVAL_SECONDS)) {
            throw arrivals.unusable(
                    changes ? "profile" : "request-rate",
                    "which is so little that " + requests + " requests take more than three years");
        }
        return rate;
    }

    private static RequestRate.Piece piece(Section.Entry entry) {
        double atNanos = Durations.nanos(entry.values().getOrDefault("at", "")).orElse(Double.NaN);
        double perSecond = Numbers.parse(entry.values().getOrDefault("request-rate", ""));
        boolean hasBoth = entry.values().keySet().equals(Set.of("at", "request-rate"));
        if (!hasBoth || !(atNanos >= 0) || !(perSecond >= 0 && perSecond < Double.POSITIVE_INFINITY)) {
            throw new ScenarioException(
                    entry.origin(),
                    "workload.arrivals.profile has " + entry.values()
                            + ", but each entry must have at, a duration such as 30s, and request-rate, a number from 0");
        }
        return new RequestRate.Piece(atNanos, perSecond);
    }

    private static double burstiness(Section arrivals) {
        return switch (arrivals.choice("kind", ArrivalKind.class)) {
            case POISSON -> 1;
            case CONSTANT -> Double.POSITIVE_INFINITY;
            case GAMMA -> arrivals.number("burstiness", MIN_BURSTINESS, Double.POSITIVE_INFINITY);
        };
    }

    static WholeNumbers wholeNumbers(Section section, int limit) {
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

    private static Distribution seconds(Section section) {
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
