package understudy.workload;

import java.util.Set;
import understudy.settings.Durations;
import understudy.settings.Numbers;
import understudy.settings.Section;

/** The section {@code workload.arrivals}. */
public final class ArrivalSettings {
    private static final double MAX_ARRIVAL_SECONDS = 1e8;
    private static final double MIN_BURSTINESS = 1e-3;
    private static final double MIN_RPS = 1e-3;
    private static final double MAX_RPS = 1e9;

    private enum ArrivalKind {
        POISSON,
        CONSTANT,
        GAMMA
    }

    private enum RampUpStrategy {
        OFF,
        LINEAR,
        EXPONENTIAL
    }

    private ArrivalSettings() {}

    /** Reads the rate; that of a ramp-up, if there is one, has the place of all others. */
    public static RequestRate rate(Section arrivals, long requests) {
        var strategy = arrivals.section("ramp-up").choice("strategy", RampUpStrategy.class);
        return strategy == RampUpStrategy.OFF
                ? rateOverTime(arrivals, requests)
                : RequestRate.of(rampUp(arrivals.section("ramp-up"), strategy, requests));
    }

    private static RampUp rampUp(Section section, RampUpStrategy strategy, long requests) {
        double start = section.number("start-rps", MIN_RPS, MAX_RPS);
        double end = section.number("end-rps", start, MAX_RPS);
        return new RampUp(strategy == RampUpStrategy.EXPONENTIAL, start, end, requests);
    }

    private static RequestRate rateOverTime(Section arrivals, long requests) {
        var constant = RequestRate.constant(arrivals.positive("request-rate", "inf"));
        var rate = constant.changing(
                arrivals.entries("profile").stream().map(ArrivalSettings::piece).toList());
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
            throw entry.unusable("workload.arrivals.profile has " + entry.values()
                    + ", but each entry must have at, a duration such as 30s, and request-rate, a number"
                    + " from 0");
        }
        return new RequestRate.Piece(atNanos, perSecond);
    }

    public static Gaps gaps(Section arrivals) {
        return new Gaps(burstiness(arrivals), arrivals.bool("scale-gaps"));
    }

    /** Reads the shape of the gaps; infinite makes them equal. */
    public static double burstiness(Section arrivals) {
        return switch (arrivals.choice("kind", ArrivalKind.class)) {
            case POISSON -> 1;
            case CONSTANT -> Double.POSITIVE_INFINITY;
            case GAMMA -> arrivals.number("burstiness", MIN_BURSTINESS, Double.POSITIVE_INFINITY);
        };
    }
}
