package understudy.engine.vllm;

import java.util.ArrayList;
import understudy.kvcache.BlockCacheSpec;
import understudy.kvcache.hybrid.HybridConfig;

/** The rules of one scheduler that are on, in the order in which they are asked. A new one is a class, and a line here. */
final class SchedulerRules {
    final KvLoads loads;
    final Drafts drafts;
    final LoraRule loras;

    /** Those that are on; empty is the fast path. */
    final StepRule[] on;

    SchedulerRules(SchedulerConfig config, BlockCacheSpec kvCache) {
        loads = new KvLoads(kvCache);
        drafts = new Drafts(config.speculation(), kvCache, config.asyncScheduling());
        loras = new LoraRule(config.loras());
        var rules = new ArrayList<StepRule>();
        if (loads.areOn()) {
            rules.add(loads);
        }
        if (config.loras().isOn()) {
            rules.add(loras);
        }
        if (config.pipelineParallelSize() > 1) {
            rules.add(new StageRule(config));
        }
        if (kvCache instanceof HybridConfig hybrid) {
            rules.add(new GroupRule(hybrid));
        }
        if (config.prefillScheduleInterval() > 1) {
            rules.add(new PrefillThrottle(config.prefillScheduleInterval()));
        }
        if (drafts.areOn()) {
            rules.add(drafts);
        }
        if (config.knownBugs().contains(KnownBug.ADMISSION_STOPS)) {
            rules.add(new AdmissionStop(config.maxNumSeqs()));
        }
        if (config.knownBugs().contains(KnownBug.SKIPPED_RUNNING_REQUEST)) {
            rules.add(new SkippedRequest());
        }
        on = rules.toArray(StepRule[]::new);
    }

    /** Returns whether some rule looks at each scheduled request. */
    boolean seeEach() {
        for (var rule : on) {
            if (rule.seesEach()) {
                return true;
            }
        }
        return false;
    }
}
