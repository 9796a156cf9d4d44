package understudy.scaling;

import java.util.Optional;
import java.util.function.Supplier;
import understudy.scaling.ScalingBehavior.Pace;
import understudy.settings.Section;

/** The section {@code scaling}. */
public final class ScalingSettings {
    private static final int MAX_REPLICAS = 100_000;
    private static final double MAX_PERCENT = 1e6;
    private static final double NANOS_PER_SECOND = 1e9;

    private enum Rule {
        OFF,
        HPA,
        KEDA,
        TOKEN_AWARE,
        SLO
    }

    /**
     * Replica that comes and goes.
     *
     * @param numGpus at least 1
     * @param weightBytes of its model, on all GPUs together
     * @param prefillTokensPerSecond prompt tokens that it computes per second
     */
    public record Replica(int numGpus, double weightBytes, double prefillTokensPerSecond) {}

    private final Section scaling;
    private final Replica replica;

    private ScalingSettings(Section scaling, Replica replica) {
        this.scaling = scaling;
        this.replica = replica;
    }

    /**
     * Reads the section; empty if nothing scales, and nothing has a price.
     *
     * @param mayWait whether requests wait for a replica where there is none
     */
    public static Optional<ScalingSpec> read(Section scaling, Replica replica, boolean mayWait) {
        var spec = new ScalingSettings(scaling, replica).spec();
        if (spec.rule().isEmpty() && spec.gpuHourPrice() == 0) {
            return Optional.empty();
        }
        if (spec.behavior().minReplicas() == 0) {
            requireWaitingRoom(scaling, mayWait);
        }
        return Optional.of(spec);
    }

    /** Without replicas requests must be able to wait, and only KEDA starts the first one. */
    private static void requireWaitingRoom(Section scaling, boolean mayWait) {
        if (scaling.choice("rule", Rule.class) != Rule.KEDA) {
            throw scaling.unusable("min-replicas", "must be from 1 to 100000; only rule = keda scales to zero");
        }
        if (!mayWait) {
            throw scaling.unusable(
                    "min-replicas",
                    "but requests must be able to wait for a replica: set router.admission.queue.max-requests");
        }
    }

    private ScalingSpec spec() {
        var behavior = behavior();
        return new ScalingSpec(
                rule(behavior.minReplicas()),
                behavior,
                atLeastOneMilli(scaling, "interval"),
                atLeastOneMilli(scaling, "ttft-window"),
                startupNanos(),
                replica.numGpus,
                scaling.number("gpu-hour-price", 0, Double.MAX_VALUE));
    }

    /** Everything is checked, also what this rule does not use. */
    private Optional<Supplier<ScalingRule>> rule(int minReplicas) {
        var hpa = hpa(scaling.section("hpa"));
        var keda = keda(scaling.section("keda"), minReplicas);
        var tokenAware = tokenAware(scaling.section("token-aware"));
        var slo = new SloTtft(seconds(scaling.section("slo"), "ttft"));
        return switch (scaling.choice("rule", Rule.class)) {
            case OFF -> Optional.empty();
            case HPA -> Optional.of(() -> hpa);
            case KEDA -> Optional.of(() -> new Keda(keda));
            case TOKEN_AWARE -> Optional.of(() -> tokenAware);
            case SLO -> Optional.of(() -> slo);
        };
    }

    private static Hpa hpa(Section hpa) {
        return new Hpa(
                hpa.choice("metric", ScalingMetric.class), hpa.positive("target"), hpa.number("tolerance", 0, 1));
    }

    private static Keda.Options keda(Section keda, int minReplicas) {
        var metric = keda.choice("metric", ScalingMetric.class);
        if (!metric.isSum()) {
            throw keda.unusable(
                    "metric", "but KEDA divides a sum over all replicas, and this is none; rule = hpa takes it");
        }
        return new Keda.Options(
                metric,
                keda.positive("threshold"),
                keda.number("activation-threshold", 0, Double.MAX_VALUE),
                Math.round(keda.nanos("cooldown-period")),
                minReplicas == 0);
    }

    private TokenAware tokenAware(Section tokenAware) {
        String key = "prefill-tokens-per-second";
        double prefill =
                tokenAware.text(key).equals("auto") ? replica.prefillTokensPerSecond : tokenAware.positive(key);
        return new TokenAware(prefill, seconds(tokenAware, "threshold"), tokenAware.positive("target-kv-usage"));
    }

    private ScalingBehavior behavior() {
        int minReplicas = scaling.wholeNumber("min-replicas", 0, MAX_REPLICAS);
        int maxReplicas = scaling.wholeNumber("max-replicas", minReplicas, MAX_REPLICAS);
        var behavior = scaling.section("behavior");
        return new ScalingBehavior(
                minReplicas, maxReplicas, pace(behavior.section("scale-up")), pace(behavior.section("scale-down")));
    }

    private static Pace pace(Section pace) {
        return new Pace(
                Math.round(pace.nanos("stabilization-window")),
                pace.number("percent", 0, MAX_PERCENT),
                pace.wholeNumber("pods", 0, MAX_REPLICAS),
                atLeastOneMilli(pace, "period"));
    }

    private long startupNanos() {
        var startup = scaling.section("startup");
        double loadNanos = replica.weightBytes / startup.positive("weights-gb-per-s");
        double restNanos = startup.nanos("rest");
        boolean isAuto = scaling.text("startup-time").equals("auto");
        return Math.round(isAuto ? loadNanos + restNanos : scaling.nanos("startup-time"));
    }

    private static double seconds(Section section, String key) {
        return atLeastOneMilli(section, key) / NANOS_PER_SECOND;
    }

    private static long atLeastOneMilli(Section section, String key) {
        long nanos = Math.round(section.nanos(key));
        if (nanos < 1_000_000) {
            throw section.unusable(key, "must be at least 1ms");
        }
        return nanos;
    }
}
