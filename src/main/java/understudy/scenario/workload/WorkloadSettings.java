package understudy.scenario.workload;

import java.util.function.Supplier;
import java.util.stream.Stream;
import understudy.api.model.Tokenizer;
import understudy.settings.Section;
import understudy.workload.ArrivalSettings;
import understudy.workload.BurstWorkload;
import understudy.workload.ConcurrencyLimit;
import understudy.workload.DrawSettings;
import understudy.workload.GeneratedWorkload;
import understudy.workload.GeneratedWorkloadOptionsBuilder;
import understudy.workload.LoraWorkload;
import understudy.workload.OutputLimit;
import understudy.workload.PrefixGroups;
import understudy.workload.RandomStreams;
import understudy.workload.RequestRate;
import understudy.workload.Traffic;
import understudy.workload.Workload;
import understudy.workload.agentic.AgenticSettings;
import understudy.workload.files.TraceException;
import understudy.workload.servegen.ServeGenReader;
import understudy.workload.servegen.ServeGenSettings;
import understudy.workload.trace.ShareGptWorkload;
import understudy.workload.trace.TraceFormat;
import understudy.workload.trace.TraceReader;
import understudy.workload.trace.TraceWorkload;

/** The section {@code workload}. */
public final class WorkloadSettings {
    private static final double NANOS_PER_SECOND = 1e9;
    private static final int MAX_TOKENS = 100_000_000;
    private static final int MAX_LORAS = 1_000_000;
    private static final int MAX_TURNS = 1_000_000;
    private static final int MAX_PROMPTS_IN_TURN = 10_000_000;
    private static final long MAX_REQUESTS = 1_000_000_000_000L;
    private static final double MIN_TIME_SCALE = 1e-9;
    private static final double MAX_TIME_SCALE = 1e9;

    /** Kinds beside those that are formats of traces. */
    private enum Kind {
        GENERATED,
        BURST,
        SHAREGPT,
        SERVEGEN,
        AGENTIC,
        TRACE;

        static Kind of(Section workload) {
            var own = Stream.of(values()).filter(kind -> kind != TRACE).map(Section::nameOf);
            var formats = Stream.of(TraceFormat.values()).map(Section::nameOf);
            String chosen = workload.choice("kind", Stream.concat(own, formats).toList());
            return Stream.of(values())
                    .filter(kind -> Section.nameOf(kind).equals(chosen))
                    .findFirst()
                    .orElse(TRACE);
        }

        /** Returns whether requests come when a file or a client says, and not at a rate. */
        boolean isSelfTimed() {
            return this != GENERATED && this != SHAREGPT;
        }
    }

    private enum PromptOrder {
        DRAWN,
        IN_TURN
    }

    private WorkloadSettings() {}

    /** Reads and checks the section; a trace's rows are read when the workload is opened. */
    public static Workload.Source read(Section workload, RandomStreams streams, int maxModelLen) {
        int maxConcurrency = workload.wholeNumber("max-concurrency", 0, Integer.MAX_VALUE);
        var all = withLoras(workload, unlimited(workload, streams, maxModelLen), streams);
        return maxConcurrency == 0 ? all : () -> new ConcurrencyLimit(all.open(), maxConcurrency);
    }

    /** Returns how many adapters the section draws from, or 0 if it draws none. */
    public static int numLoras(Section workload) {
        return workload.section("loras").wholeNumber("count", 0, MAX_LORAS);
    }

    private static Workload.Source withLoras(Section workload, Workload.Source source, RandomStreams streams) {
        int count = numLoras(workload);
        var loras = workload.section("loras");
        var options = new LoraWorkload.Options(count, loras.number("skew", 0, 100), loras.number("base-share", 0, 1));
        return count == 0 ? source : () -> new LoraWorkload(source.open(), options, streams);
    }

    private static Workload.Source unlimited(Section workload, RandomStreams streams, int maxModelLen) {
        var outputLimit = workload.bool("ignore-eos") ? OutputLimit.MAX_TOKENS : OutputLimit.END_OF_SEQUENCE;
        // Everything is checked, also what this kind of workload does not use.
        var kind = Kind.of(workload);
        var generated = generated(workload, outputLimit, maxModelLen);
        var burst = burst(workload, outputLimit, maxModelLen);
        var options = new TraceWorkload.Options(
                workload.number("time-scale", MIN_TIME_SCALE, MAX_TIME_SCALE),
                workload.wholeNumber("limit", 0L, Long.MAX_VALUE),
                outputLimit,
                maxModelLen);
        var shareGpt = shareGpt(workload, outputLimit, maxModelLen);
        var serveGen = ServeGenSettings.read(workload.section("servegen"));
        var agentic = AgenticSettings.read(workload, outputLimit, maxModelLen);
        int blockTokens = workload.wholeNumber("csv-block-tokens", 1, MAX_TOKENS);
        return switch (kind) {
            case GENERATED -> () -> new GeneratedWorkload(generated, streams);
            case BURST -> () -> new BurstWorkload(burst, streams);
            case TRACE -> {
                var file = workload.file("trace", "but this kind of workload needs a file");
                var format = workload.choice("kind", TraceFormat.class);
                yield trace(file.toString(), options, () -> format.open(file, blockTokens));
            }
            case SERVEGEN -> {
                var services = ServeGenSettings.withServices(workload, serveGen);
                yield trace("servegen", options, () -> new ServeGenReader(services, streams));
            }
            case SHAREGPT -> shareGpt(workload, shareGpt, streams);
            case AGENTIC -> AgenticSettings.source(workload, agentic, streams);
        };
    }

    private static Workload.Source trace(String name, TraceWorkload.Options options, Supplier<TraceReader> readers) {
        return () -> {
            var reader = readers.get();
            try {
                return new TraceWorkload(reader, name, options);
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
        long requests = numRequests(workload);
        return GeneratedWorkloadOptionsBuilder.builder()
                .numRequests(requests)
                .rate(ArrivalSettings.rate(arrivals, requests))
                .gaps(ArrivalSettings.gaps(arrivals))
                .promptLengths(DrawSettings.wholeNumbers(lengths.section("prompt"), MAX_TOKENS))
                .outputLengths(DrawSettings.wholeNumbers(lengths.section("output"), MAX_TOKENS))
                .groups(prefixGroups(workload.section("prefix-groups")))
                .turns(DrawSettings.wholeNumbers(sessions.section("turns"), MAX_TURNS))
                .rewriteProbability(sessions.number("unexpected-prompt-probability", 0, 1))
                .thinkTimeSeconds(DrawSettings.seconds(sessions.section("think-time")))
                .numPriorities(workload.wholeNumber("priorities", 1, 1_000_000))
                .numTenants(workload.wholeNumber("tenants", 1, 1_000_000))
                .outputLimit(outputLimit)
                .maxModelLen(maxModelLen)
                .build();
    }

    private static ShareGptWorkload.Options shareGpt(Section workload, OutputLimit outputLimit, int maxModelLen) {
        var arrivals = workload.section("arrivals");
        long requests = numRequests(workload);
        return new ShareGptWorkload.Options(
                requests,
                ArrivalSettings.rate(arrivals, requests),
                ArrivalSettings.gaps(arrivals),
                workload.wholeNumber("sharegpt-output-len", 0, MAX_TOKENS),
                outputLimit,
                maxModelLen);
    }

    private static Workload.Source shareGpt(Section workload, ShareGptWorkload.Options options, RandomStreams streams) {
        var file = workload.file("trace", "but this kind of workload needs a file");
        return () -> {
            var tokenizer = Tokenizer.Vocabulary.CL100K_BASE.load();
            return new ShareGptWorkload(file, options, tokenizer::encode, streams);
        };
    }

    private static long numRequests(Section workload) {
        return workload.wholeNumber("requests", 1L, MAX_REQUESTS);
    }

    /** Returns the pace of the workload. */
    public static Traffic traffic(Section workload) {
        var arrivals = workload.section("arrivals");
        boolean isSelfTimed = Kind.of(workload).isSelfTimed();
        return new Traffic(
                isSelfTimed
                        ? RequestRate.constant(Double.POSITIVE_INFINITY)
                        : ArrivalSettings.rate(arrivals, numRequests(workload)),
                ArrivalSettings.burstiness(arrivals),
                workload.wholeNumber("max-concurrency", 0, Integer.MAX_VALUE),
                isSelfTimed);
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
                count, DrawSettings.wholeNumbers(groups.section("length"), MAX_TOKENS), promptsPerGroup, inTurn);
    }

    private static BurstWorkload.Options burst(Section workload, OutputLimit outputLimit, int maxModelLen) {
        var burst = workload.section("burst");
        var lengths = workload.section("lengths");
        return new BurstWorkload.Options(
                numRequests(workload),
                burst.wholeNumber("distinct-prompts", 0, 1_000_000),
                DrawSettings.wholeNumbers(lengths.section("prompt"), MAX_TOKENS),
                DrawSettings.wholeNumbers(lengths.section("output"), MAX_TOKENS),
                burst.nanos("first-submit") / NANOS_PER_SECOND,
                DrawSettings.seconds(burst.section("submit")),
                burst.nanos("pause") / NANOS_PER_SECOND,
                outputLimit,
                maxModelLen);
    }
}
