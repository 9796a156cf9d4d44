package understudy.workload.kind;

import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
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

/** The section {@code workload}, which is read by those who need a workload; a server needs none. */
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

    private final Section workload;
    private final Supplier<Function<String, int[]>> tokenizers;

    /** @param tokenizers makes the tokenizer of texts in a trace */
    public WorkloadSettings(Section workload, Supplier<Function<String, int[]>> tokenizers) {
        this.workload = workload;
        this.tokenizers = tokenizers;
    }

    /** Reads and checks the section; a trace's rows are read when the workload is opened. */
    public Workload.Source source(RandomStreams streams, int maxModelLen) {
        int maxConcurrency = workload.wholeNumber("max-concurrency", 0, Integer.MAX_VALUE);
        var all = withLoras(unlimited(streams, maxModelLen), streams);
        return maxConcurrency == 0 ? all : () -> new ConcurrencyLimit(all.open(), maxConcurrency);
    }

    /** Returns how many adapters the section draws from, or 0 if it draws none. */
    public int numLoras() {
        return workload.section("loras").wholeNumber("count", 0, MAX_LORAS);
    }

    private Workload.Source withLoras(Workload.Source source, RandomStreams streams) {
        int count = numLoras();
        var loras = workload.section("loras");
        var options = new LoraWorkload.Options(count, loras.number("skew", 0, 100), loras.number("base-share", 0, 1));
        return count == 0 ? source : () -> new LoraWorkload(source.open(), options, streams);
    }

    private Workload.Source unlimited(RandomStreams streams, int maxModelLen) {
        var outputLimit = ignoresEos() ? OutputLimit.MAX_TOKENS : OutputLimit.END_OF_SEQUENCE;
        // All settings are checked, also those that this kind of workload does not use.
        var kind = Kind.of(workload);
        var generated = generated(outputLimit, maxModelLen);
        var burst = burst(outputLimit, maxModelLen);
        var options = new TraceWorkload.Options(
                workload.number("time-scale", MIN_TIME_SCALE, MAX_TIME_SCALE), limit(), outputLimit, maxModelLen);
        var shareGpt = shareGpt(outputLimit, maxModelLen);
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
            case SHAREGPT -> shareGpt(shareGpt, streams);
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

    private GeneratedWorkload.Options generated(OutputLimit outputLimit, int maxModelLen) {
        var arrivals = workload.section("arrivals");
        var lengths = workload.section("lengths");
        var sessions = workload.section("sessions");
        long requests = numRequests();
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

    private ShareGptWorkload.Options shareGpt(OutputLimit outputLimit, int maxModelLen) {
        var arrivals = workload.section("arrivals");
        long requests = numRequests();
        return new ShareGptWorkload.Options(
                requests,
                ArrivalSettings.rate(arrivals, requests),
                ArrivalSettings.gaps(arrivals),
                workload.wholeNumber("sharegpt-output-len", 0, MAX_TOKENS),
                outputLimit,
                maxModelLen);
    }

    private Workload.Source shareGpt(ShareGptWorkload.Options options, RandomStreams streams) {
        var file = workload.file("trace", "but this kind of workload needs a file");
        return () -> new ShareGptWorkload(file, options, tokenizers.get(), streams);
    }

    /** Returns how many requests are generated. */
    public long numRequests() {
        return workload.wholeNumber("requests", 1L, MAX_REQUESTS);
    }

    /** Returns whether answers are as long as asked for, without regard to their text. */
    public boolean ignoresEos() {
        return workload.bool("ignore-eos");
    }

    /** Returns the CSV trace that is played at its original pace; empty if another workload is. */
    public Optional<Path> csvAtItsPace() {
        boolean isAtItsPace = workload.positive("time-scale", "inf") == 1;
        return workload.text("kind").equals("csv") && isAtItsPace
                ? Optional.of(Path.of(workload.text("trace")))
                : Optional.empty();
    }

    /** Returns how many rows of a trace are played at most; 0 is all. */
    public long limit() {
        return workload.wholeNumber("limit", 0L, Long.MAX_VALUE);
    }

    /** Returns the pace of the workload. */
    public Traffic traffic() {
        var arrivals = workload.section("arrivals");
        boolean isSelfTimed = Kind.of(workload).isSelfTimed();
        return new Traffic(
                isSelfTimed
                        ? RequestRate.constant(Double.POSITIVE_INFINITY)
                        : ArrivalSettings.rate(arrivals, numRequests()),
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

    private BurstWorkload.Options burst(OutputLimit outputLimit, int maxModelLen) {
        var burst = workload.section("burst");
        var lengths = workload.section("lengths");
        return new BurstWorkload.Options(
                numRequests(),
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
