package understudy.workload.agentic;

import understudy.settings.Section;
import understudy.workload.OutputLimit;
import understudy.workload.RandomStreams;
import understudy.workload.Workload;

/** The section {@code workload.agentic}. */
public final class AgenticSettings {
    private static final double NANOS_PER_SECOND = 1e9;
    private static final double MIN_TIME_SCALE = 1e-9;
    private static final double MAX_TIME_SCALE = 1e9;
    private static final int MAX_LANES = 1_000_000;

    private enum Timing {
        CLOSED_LOOP,
        TIMESTAMPS
    }

    private enum Start {
        BEGINNING,
        RANDOM
    }

    private enum Shared {
        NOTHING,
        SYSTEM_PROMPT
    }

    private enum Order {
        NAME,
        SHUFFLED
    }

    private enum OnBadSession {
        FAIL,
        SKIP
    }

    private AgenticSettings() {}

    public static AgenticOptions read(Section workload, OutputLimit outputLimit, int maxModelLen) {
        var agentic = workload.section("agentic");
        return AgenticOptionsBuilder.builder()
                .lanes(agentic.wholeNumber("lanes", 0, MAX_LANES))
                .isClosedLoop(agentic.choice("timing", Timing.class) == Timing.CLOSED_LOOP)
                .maxPauseSeconds(seconds(agentic, "idle-gap-cap"))
                .timeScale(workload.number("time-scale", MIN_TIME_SCALE, MAX_TIME_SCALE))
                .limit(workload.wholeNumber("limit", 0L, Long.MAX_VALUE))
                .plays(agentic.wholeNumber("plays", 0L, Long.MAX_VALUE))
                .durationSeconds(seconds(agentic, "duration"))
                .startsAnywhere(agentic.choice("start", Start.class) == Start.RANDOM)
                .hasPrimer(agentic.bool("primer"))
                .numWarmups(agentic.wholeNumber("warmup-requests", 0, MAX_LANES))
                .sharesSystemPrompt(agentic.choice("shared", Shared.class) == Shared.SYSTEM_PROMPT)
                .reusesAcrossPlays(agentic.bool("reuse-across-plays"))
                .isShuffled(agentic.choice("order", Order.class) == Order.SHUFFLED)
                .skipsBad(agentic.choice("on-bad-session", OnBadSession.class) == OnBadSession.SKIP)
                .outputLimit(outputLimit)
                .maxModelLen(maxModelLen)
                .build();
    }

    private static double seconds(Section agentic, String key) {
        return agentic.nanosOrOff(key).orElse(Double.POSITIVE_INFINITY) / NANOS_PER_SECOND;
    }

    public static Workload.Source source(Section workload, AgenticOptions options, RandomStreams streams) {
        if (workload.wholeNumber("max-concurrency", 0, Integer.MAX_VALUE) > 0) {
            throw workload.unusable("max-concurrency", "but for agents' sessions workload.agentic.lanes is the limit");
        }
        var path = workload.path(
                "trace",
                "but this kind of workload needs sessions of agents: the folder traces of"
                        + " https://github.com/callanjfox/kv-cache-tester, for one");
        return () -> new AgenticWorkload(path, options, streams);
    }
}
