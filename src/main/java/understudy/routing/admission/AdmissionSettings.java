package understudy.routing.admission;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import understudy.report.ServiceLevels;
import understudy.settings.Section;

/** The section {@code router.admission}. */
public final class AdmissionSettings {
    private static final int MAX_WAITING = 10_000_000;
    private static final String TTFT_LIMIT = "ttft-limit";

    /** Policies that estimate when a first token would come. */
    private static final Set<String> ESTIMATING = Set.of("ttft-estimate", "oracle");

    private enum Per {
        CLUSTER,
        TENANT
    }

    private enum TtftLimit {
        OFF,
        SLO
    }

    private AdmissionSettings() {}

    public static AdmissionSpec read(Section admission, String policy, ServiceLevels serviceLevels) {
        var queue = admission.section("queue");
        return new AdmissionSpec(
                rateLimit(admission.section("rate-limit")),
                saturation(admission.section("saturation")),
                new QueueSpec(
                        queue.choice("order", QueueSpec.Order.class),
                        queue.wholeNumber("max-requests", 0, MAX_WAITING),
                        Math.round(queue.nanos("max-wait"))),
                ttftLimits(admission, policy, serviceLevels),
                ejection(admission.section("ejection")));
    }

    private static EjectionSpec ejection(Section ejection) {
        double factor = ejection.positive("factor", "inf");
        if (factor <= 1) {
            throw ejection.unusable("factor", "must be above 1, or inf");
        }
        long intervalNanos = Math.round(ejection.nanos("interval"));
        if (intervalNanos == 0) {
            throw ejection.unusable("interval", "must be above 0");
        }
        return new EjectionSpec(
                factor,
                intervalNanos,
                ejection.wholeNumber("min-tokens", 1, Integer.MAX_VALUE),
                Math.round(ejection.nanos("duration")),
                ejection.number("max-share", 0, 1));
    }

    private static RateLimit rateLimit(Section limit) {
        return new RateLimit(
                limit.positive("rate", "inf"),
                limit.number("burst", 1, 1e12),
                limit.choice("unit", RateLimit.Unit.class),
                limit.choice("per", Per.class) == Per.TENANT);
    }

    private static Saturation saturation(Section saturation) {
        return new Saturation(
                saturation.positive("max-outstanding", "inf"),
                saturation.positive("max-waiting", "inf"),
                saturation.positive("max-kv-cache-usage", "inf"));
    }

    private static AdmissionSpec.TtftLimits ttftLimits(Section admission, String policy, ServiceLevels levels) {
        if (admission.choice(TTFT_LIMIT, TtftLimit.class) == TtftLimit.OFF) {
            return AdmissionSpec.TtftLimits.NONE;
        }
        if (!ESTIMATING.contains(policy)) {
            throw admission.unusable(
                    TTFT_LIMIT, "which needs a policy that estimates it: router.policy = ttft-estimate or oracle");
        }
        Map<Integer, Long> byPriority = new HashMap<>();
        levels.byPriority().forEach((priority, limits) -> byPriority.put(priority, limits.ttftNanos()));
        var limits = new AdmissionSpec.TtftLimits(
                Map.copyOf(byPriority), levels.others().ttftNanos());
        if (limits.equals(AdmissionSpec.TtftLimits.NONE)) {
            throw admission.unusable(TTFT_LIMIT, "which needs slo.ttft: --set slo.ttft=DURATION");
        }
        return limits;
    }
}
