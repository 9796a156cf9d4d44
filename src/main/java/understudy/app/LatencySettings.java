package understudy.app;

import understudy.latency.LatencyModel;
import understudy.latency.LinearLatency;
import understudy.latency.ProfileLatency;

/**
 * The section {@code latency}.
 *
 * @param model how long a step takes
 * @param apiDelayNanos from the arrival of a request to its entry into the waiting queue
 */
record LatencySettings(LatencyModel model, long apiDelayNanos) {
    private enum Kind {
        LINEAR,
        PROFILE
    }

    static LatencySettings read(Section latency) {
        var model = switch (latency.choice("model", Kind.class)) {
            case LINEAR -> linear(latency.section("linear"));
            case PROFILE -> profile(latency.section("profile"));
        };
        return new LatencySettings(model, Math.round(latency.nanos("api-delay")));
    }

    private static LatencyModel linear(Section linear) {
        return new LinearLatency(
                linear.nanos("per-step"),
                linear.nanos("per-token"),
                linear.nanos("per-decode-seq"),
                linear.nanos("per-kv-token"));
    }

    private static LatencyModel profile(Section profile) {
        return new ProfileLatency(
                profile.nanos("weights"),
                profile.nanos("per-token"),
                profile.nanos("per-kv-token"),
                profile.nanos("per-attention-pair"),
                profile.nanos("per-mixed-kv-token"));
    }
}
