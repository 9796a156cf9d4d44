package understudy.engine.vllm;

import java.util.List;
import java.util.stream.Stream;
import understudy.engine.EngineRequest;
import understudy.engine.lora.AdapterUse;
import understudy.engine.lora.LoraConfig;
import understudy.engine.lora.StepLoras;
import understudy.engine.vllm.queue.WaitingQueues;
import understudy.kvcache.Admission;

/** LoRA adapters of a step; see {@link StepLoras}. */
final class LoraRule implements StepRule {
    private final StepLoras loras;

    LoraRule(LoraConfig config) {
        loras = new StepLoras(config);
    }

    /** Returns the places for adapters. */
    StepLoras adapters() {
        return loras;
    }

    /** Returns which adapters the requests have; takes time in proportion to their number. */
    AdapterUse use(RunningList running, WaitingQueues<VllmRequest> waiting) {
        return loras.isOn()
                ? new AdapterUse(
                        loras.maxLoras(),
                        names(running.asList().stream()),
                        names(Stream.concat(waiting.waiting().stream(), waiting.skipped().stream())))
                : AdapterUse.NONE;
    }

    private static List<String> names(Stream<VllmRequest> requests) {
        return requests.map(LoraRule::nameOf)
                .filter(name -> !name.isEmpty())
                .distinct()
                .sorted()
                .toList();
    }

    private static String nameOf(EngineRequest request) {
        return request.request().prompt().loraName();
    }

    @Override
    public void beginAdmissions(VllmPlan plan) {
        loras.begin();
        for (int i = 0; i < plan.size(); i++) {
            loras.add(nameOf(plan.request(i)));
        }
    }

    @Override
    public boolean mayAdmit(VllmRequest head, WaitingQueues<VllmRequest> waiting) {
        return loras.mayAdmit(nameOf(head));
    }

    @Override
    public void onAdmitted(VllmRequest head, Admission.Admitted admitted) {
        loras.add(nameOf(head));
    }

    @Override
    public void endPlan(VllmPlan plan, WaitingQueues<VllmRequest> waiting) {
        if (plan.needsDevice()) {
            loras.beginBatch();
            for (int i = 0; i < plan.size(); i++) {
                loras.schedule(nameOf(plan.request(i)), plan.numScheduledTokens(i));
            }
            plan.setLoras(loras.endBatch());
        }
    }
}
