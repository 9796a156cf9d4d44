package understudy.engine.lora;

import java.util.LinkedHashSet;
import java.util.Set;

/**
 * Adapters of a step: at most {@code max-loras} different ones (vLLM {@code scheduled_loras} in {@code
 * v1/core/sched/scheduler.py}). A waiting request with one more is passed over. Running requests are not asked: they were
 * admitted under the same limit.
 */
public final class StepLoras {
    private final int maxLoras;
    private final Set<String> names = new LinkedHashSet<>();

    /** Limits the adapters of a step to so many; 0 is no limit. */
    public StepLoras(int maxLoras) {
        this.maxLoras = maxLoras;
    }

    /** Returns whether there is a limit. */
    public boolean isOn() {
        return maxLoras > 0;
    }

    /** Forgets the adapters of the step before. */
    public void begin() {
        names.clear();
    }

    /** Adds the adapter of a request that runs in the step; an empty name is none. */
    public void add(String name) {
        if (isOn() && !name.isEmpty()) {
            names.add(name);
        }
    }

    /** Returns whether a request with this adapter, or an empty name for none, may be admitted to the step. */
    public boolean mayAdmit(String name) {
        return !isOn() || name.isEmpty() || names.size() < maxLoras || names.contains(name);
    }
}
