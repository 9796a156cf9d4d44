package understudy.faults;

import java.util.ArrayList;
import understudy.settings.Section;
import understudy.workload.RandomStreams;

/** The section {@code faults}. */
public final class FaultSettings {
    private FaultSettings() {}

    /** Reads the plan, and checks that so many replicas can carry it out. */
    public static FaultPlan read(Section faults, long seed, int numReplicas) {
        var timed = new ArrayList<FaultPlan.TimedChange>();
        for (var entry : faults.entries("plan")) {
            try {
                timed.addAll(FaultParser.parseTimed(entry.values()));
            } catch (IllegalArgumentException e) {
                throw entry.unusable("faults.plan: " + e.getMessage());
            }
        }
        var plan = new FaultPlan(
                timed,
                new CrashRetries(
                        faults.choice("on-crash", CrashRetries.OnCrash.class),
                        faults.wholeNumber("max-retries", 0, Integer.MAX_VALUE)),
                Math.round(faults.nanos("startup-time")),
                new RandomStreams(seed));
        plan.refusal(numReplicas).ifPresent(why -> {
            throw faults.unusable("plan", "which cannot be carried out: " + why);
        });
        return plan;
    }
}
