package understudy.scenario;

import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import understudy.latency.Parallelism;
import understudy.routing.admission.AdmissionSpec;
import understudy.scaling.Hpa;
import understudy.scaling.Keda;
import understudy.scaling.ScalingBehavior;
import understudy.scaling.ScalingBehavior.Pace;
import understudy.scaling.ScalingMetric;
import understudy.scaling.ScalingRule;
import understudy.scaling.ScalingSpec;
import understudy.scaling.SloTtft;
import understudy.scaling.TokenAware;
import understudy.settings.Section;

/** The section {@code scaling}. */
final class ScalingSettings {
    private static final int MAX_REPLICAS = 100_000;
    private static final double MAX_PERCENT = 1e6;
    private static final double NANOS_PER_SECOND = 1e9;

    /** Weights of Llama-3.1-8B in 16 bits, which the defaults describe. */
    private static final double DEFAULT_WEIGHT_BYTES = 16.06e9;

    private enum Rule {
        OFF,
        HPA,
        KEDA,
        TOKEN_AWARE,
        SLO
    }

    private final Section scaling;
    private final LatencySettings latency;
    private final int chunkTokens;

    private ScalingSettings(Section scaling, LatencySettings latency, int chunkTokens) {
        this.scaling = scaling;
        this.latency = latency;
        this.chunkTokens = chunkTokens;
    }

    /**
     * Reads the section; empty if nothing scales, and nothing has a price.
     *
     * @param groups of replicas; those of the first one come and go
     */
    static Optional<ScalingSpec> read(Section scaling, List<ReplicaGroup> groups, AdmissionSpec admission) {
        var first = groups.get(0);
        var spec = new ScalingSettings(
                        scaling, first.latency(), first.engine().traits().maxNumBatchedTokens())
                .spec();
        if (spec.rule().isEmpty() && spec.gpuHourPrice() == 0) {
            return Optional.empty();
        }
        if (spec.behavior().minReplicas() == 0) {
            requireWaitingRoom(scaling, admission);
        }
        int numGpus = first.latency().deployment().numGpus();
        if (groups.stream().anyMatch(group -> group.latency().deployment().numGpus() != numGpus)) {
            throw scaling.unusable(
                    spec.rule().isPresent() ? "rule" : "gpu-hour-price",
                    "but the GPUs of replicas cannot be counted where cluster.groups differ in tensor-parallel-size");
        }
        return Optional.of(spec);
    }

    /** Without replicas requests must be able to wait, and only KEDA starts the first one. */
    private static void requireWaitingRoom(Section scaling, AdmissionSpec admission) {
        if (scaling.choice("rule", Rule.class) != Rule.KEDA) {
            throw scaling.unusable("min-replicas", "must be from 1 to 100000; only rule = keda scales to zero");
        }
        if (admission.queue().maxRequests() == 0) {
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
                latency.deployment().numGpus(),
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
        double prefill = tokenAware.text(key).equals("auto")
                ? TokenAware.prefillTokensPerSecond(latency.model(), chunkTokens, latency.apiDelay())
                : tokenAware.positive(key);
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
        double loadNanos = weightBytes() / startup.positive("weights-gb-per-s");
        double restNanos = startup.nanos("rest");
        boolean isAuto = scaling.text("startup-time").equals("auto");
        return Math.round(isAuto ? loadNanos + restNanos : scaling.nanos("startup-time"));
    }

    private double weightBytes() {
        var llm = latency.deployment().llm();
        return llm == null ? DEFAULT_WEIGHT_BYTES : llm.spec().weightBytesPerRank(Parallelism.ofTensors(1));
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
