package understudy.report.run;

import java.util.Collection;
import java.util.List;
import understudy.report.Figures;

/** Single requests of a run: the phases of some, those of sessions, and the slowest. */
final class RequestFigures {
    private static final double NANOS_PER_MILLI = 1e6;
    private static final double NANOS_PER_SECOND = 1e9;

    private RequestFigures() {}

    static Figures of(RequestSample sample) {
        boolean hasTurns = sample.sessions().stories().stream().anyMatch(turns -> turns.size() > 1);
        var figures = new Figures().add("by_request", rows(sample.requests()));
        if (hasTurns) {
            figures.add("by_session", rows(sample.sessions()));
        }
        return figures.add(
                "slowest", sample.slowest().stream().map(RequestFigures::ofSlow).toList());
    }

    /** A step of 1 goes without saying. */
    private static Figures rows(RequestSample.Thinned thinned) {
        return new Figures()
                .add("step", thinned.step() == 1 ? null : thinned.step())
                .add(
                        "rows",
                        thinned.rows().entrySet().stream()
                                .map(row -> new Figures()
                                        .add("number", row.getKey())
                                        .add("phases", phases(row.getValue())))
                                .toList());
    }

    /** Returns the phases of each kind, as pairs of their begin and end in seconds. */
    private static Figures phases(Collection<RequestStory> stories) {
        var figures = new Figures();
        for (var kind : RequestPhase.Kind.values()) {
            var pairs = stories.stream()
                    .flatMap(story -> story.phases().stream())
                    .filter(phase -> phase.kind() == kind)
                    .map(phase -> List.of(phase.startNanos() / NANOS_PER_SECOND, phase.endNanos() / NANOS_PER_SECOND))
                    .toList();
            if (!pairs.isEmpty()) {
                figures.add(kind.word(), pairs);
            }
        }
        return figures;
    }

    private static Figures ofSlow(RequestStory story) {
        var ended = story.ended();
        var figures = new Figures()
                .add("request", ended.requestId())
                .add("arrival_s", ended.arrivalNanos() / NANOS_PER_SECOND)
                .add("replica", ended.replicaIndex())
                .add("prompt_tokens", ended.numPromptTokens())
                .add("cached_tokens", ended.numCachedTokens())
                .add("output_tokens", ended.numOutputTokens())
                .add("preemptions", ended.numPreemptions())
                .add("ttft_ms", ended.ttftNanos() / NANOS_PER_MILLI)
                .add("e2el_ms", ended.e2elNanos() / NANOS_PER_MILLI);
        for (var kind : RequestPhase.Kind.values()) {
            figures.add(kind.word() + "_ms", story.nanosOf(kind) / NANOS_PER_MILLI);
        }
        return figures.add("reason", story.reason());
    }
}
