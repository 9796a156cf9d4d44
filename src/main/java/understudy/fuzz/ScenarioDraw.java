package understudy.fuzz;

import java.util.List;
import understudy.routing.policy.RoutingPolicies;
import understudy.workload.RandomStreams;

/** Draw of a scenario: a small one with tight memory, in which much happens at once. */
final class ScenarioDraw {
    private static final int MAX_REPLICAS = 4;

    private final Draft draft;
    private final Dice dice;

    private ScenarioDraw(Dice dice) {
        this.dice = dice;
        draft = new Draft(dice);
    }

    /** Returns the scenario with a number; the same seed and number give the same one. */
    static FuzzScenario of(long seed, long run) {
        var streams = new RandomStreams(seed);
        return new ScenarioDraw(new Dice(streams.stream("fuzz", run)))
                .draw(new Dice(streams.stream("fuzz-sglang", run)));
    }

    private FuzzScenario draw(Dice ofSglang) {
        int numReplicas = dice.between(1, MAX_REPLICAS);
        draft.set("seed", dice.between(0, 1_000_000));
        draft.set("cluster.replicas", numReplicas);
        int numTokens = new EngineDraw(draft).draw();
        new WorkloadDraw(draft, numTokens).draw();
        numReplicas = new SglangDraw(draft, ofSglang, numTokens).draw(numReplicas);
        numReplicas = new TransferDraw(draft).draw(numReplicas);
        drawRouter();
        drawAdmission();
        drawScaling();
        drawLatency(numReplicas);
        draft.maybePick("report.save-detailed", true, false);
        return new FuzzScenario(draft.settings, new FaultDraw(draft, numReplicas).draw());
    }

    private void drawRouter() {
        draft.maybe("router.policy", () -> dice.pick(RoutingPolicies.builtInNames()));
        draft.maybePick("router.prefix-aware.cache-threshold", 0.0, 0.5, 1.0);
        draft.maybe("router.prefix-aware.balance-abs-threshold", () -> dice.between(0, 10));
        draft.maybePick("router.kv-aware.use-kv-events", true, false);
        draft.maybePick("router.kv-aware.router-temperature", 0.0, 0.5);
        draft.maybePick("router.weighted-scorers.picker", "max-score", "weighted-random");
        draft.maybePick("router.weighted-scorers.prefix-cache", 0, 3);
        draft.maybePick("router.weighted-scorers.precise-prefix-cache", 0, 2);
        draft.maybePick("router.weighted-scorers.no-hit-lru", 0, 2);
        draft.maybePick("router.wire.kv-event-delay", "0ms", "1us", "100ms");
        draft.maybePick("router.wire.kv-event-loss", "0", "0.1");
        draft.maybePick("router.wire.kv-event-replay", "off", "1ms");
    }

    private void drawAdmission() {
        draft.maybePick("router.admission.rate-limit.rate", "inf", 5, 100);
        draft.maybePick("router.admission.rate-limit.burst", 1, 10, 1000);
        draft.maybePick("router.admission.saturation.max-outstanding", "inf", 1, 4);
        draft.maybePick("router.admission.saturation.max-waiting", "inf", 1);
        draft.maybePick("router.admission.saturation.max-kv-cache-usage", "inf", 0.3);
        draft.maybePick("router.admission.queue.order", "fcfs", "priority", "fair");
        draft.maybePick("router.admission.queue.max-requests", 0, 3, 1000);
        draft.maybePick("router.admission.queue.max-wait", "0ms", "1ms", "10s");
        draft.maybePick("router.admission.ejection.factor", "inf", 1.2, 3);
        draft.maybePick("router.admission.ejection.interval", "1ms", "100ms");
        draft.maybePick("router.admission.ejection.min-tokens", 1, 10);
        draft.maybePick("router.admission.ejection.duration", "0ms", "1s");
    }

    private void drawScaling() {
        draft.maybePick("scaling.rule", "off", "hpa", "keda", "token-aware", "slo");
        draft.maybePick("scaling.interval", "10ms", "1s");
        draft.maybePick("scaling.startup-time", "0s", "1ms", "1s");
        draft.maybePick("scaling.min-replicas", 0, 1, 2);
        draft.maybePick("scaling.max-replicas", 2, 5);
        draft.maybePick("scaling.behavior.scale-down.stabilization-window", "0s", "1s");
    }

    private void drawLatency(int numReplicas) {
        String model = dice.pick(List.of("linear", "linear", "profile", "roofline"));
        draft.set("latency.model", model);
        if (model.equals("roofline")) {
            draft.set("latency.llm", "llama-3.1-8b");
            draft.set("latency.gpu", "l4");
        }
        draft.maybePick("latency.linear.per-step", "0ms", "1us", "100ms");
        draft.maybePick("latency.jitter", 0.05, 0.5);
        draft.maybePick("latency.api-delay", "0ms", "1ns", "50ms");
        boolean hasGroups = !draft.settings.containsKey("cluster.replicas");
        if (!hasGroups && !model.equals("roofline") && numReplicas % 2 == 0 && dice.oneIn(3)) {
            draft.set("latency.data-parallel-size", 2);
        }
    }
}
