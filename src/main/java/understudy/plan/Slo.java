package understudy.plan;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import understudy.plan.Judgement.Use;
import understudy.sweep.PointResult;

/**
 * Service level of a plan: limits of statistics, and the goodput that reports have by their own section {@code slo}.
 */
public record Slo(List<Limit> limits) {
    private static final List<String> UNANSWERED = List.of("failed", "rejected", "abandoned", "unfinished");

    /**
     * Judges a candidate. A short load refutes only by statistics that rest on enough requests: queues that it has
     * built up a longer one has, too, while single slow requests may be few in the end.
     *
     * @param runs one for each seed
     * @param isWhole whether this is the whole load, whose judgement is final
     */
    public Judgement judge(List<PointResult> runs, long numRequests, boolean isWhole) {
        var uses = new ArrayList<Use>();
        boolean isRefuted = false;
        for (var limit : limits) {
            double worst = worst(runs, limit.key());
            double firm = isWhole ? worst : worst(runs, limit.firmKey(numRequests));
            uses.add(new Use(limit.title(), limit.key(), worst, limit.millis(), worst / limit.millis()));
            isRefuted |= firm > limit.millis();
        }
        for (var run : runs) {
            for (var level : run.figures().path("service_levels")) {
                var use = goodput(level);
                uses.add(use);
                isRefuted |= isWhole ? use.ratio() > 1 : isFirmlyMissed(use, numRequests);
            }
        }
        long numUnanswered = runs.stream().mapToLong(Slo::numUnanswered).max().orElse(0);
        if (numUnanswered > 0) {
            uses.add(new Use("requests without an answer", "", numUnanswered, 0, Double.POSITIVE_INFINITY));
            isRefuted = true;
        }
        return new Judgement(List.copyOf(uses), isRefuted);
    }

    private static double worst(List<PointResult> runs, String key) {
        return runs.stream()
                .mapToDouble(run -> run.figures().path(key).asDouble())
                .max()
                .orElseThrow();
    }

    private static Use goodput(JsonNode level) {
        double attainment = level.get("attainment").asDouble();
        double wanted = level.get("wanted").asDouble();
        double ratio = wanted >= 1 ? (attainment < 1 ? Double.POSITIVE_INFINITY : 1) : (1 - attainment) / (1 - wanted);
        // Whether it is kept is for the report to say, not for a quotient.
        boolean isMet = level.get("met").asBoolean();
        return new Use(
                "goodput", "service_levels", attainment, wanted, isMet ? Math.min(1, ratio) : Math.max(1.0001, ratio));
    }

    private static boolean isFirmlyMissed(Use goodput, long numRequests) {
        double allowed = Math.max(1 - goodput.allowed(), (double) Limit.FEWEST_ABOVE / numRequests);
        return 1 - goodput.value() > allowed;
    }

    private static long numUnanswered(PointResult run) {
        return UNANSWERED.stream()
                .mapToLong(key -> run.figures().path(key).asLong())
                .sum();
    }
}
