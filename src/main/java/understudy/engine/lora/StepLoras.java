package understudy.engine.lora;

import java.util.LinkedHashSet;
import java.util.Set;
import understudy.latency.BatchShape;

/**
 * Adapters of a step: at most {@code max-loras} different ones (vLLM {@code scheduled_loras} in {@code
 * v1/core/sched/scheduler.py}). A waiting request with one more is passed over. Running requests are not asked: they were
 * admitted under the same limit.
 */
public final class StepLoras implements Adapters {
    private final LoraConfig config;
    private final AdapterCache cache;
    private final Set<String> names = new LinkedHashSet<>();
    private int numTokens;

    /** Limits the adapters of a step to the slots there are. */
    public StepLoras(LoraConfig config) {
        this.config = config;
        cache = new AdapterCache(config);
    }

    /** Returns whether there are adapters. */
    public boolean isOn() {
        return config.isOn();
    }

    @Override
    public BatchShape.Loras load(String name) {
        if (isOn()) {
            cache.use(name);
        }
        return new BatchShape.Loras(0, 0, cache.takeLoads(), cache.takeActivations());
    }

    @Override
    public long loadingNanos(BatchShape.Loras loaded) {
        return config.loadingNanos(loaded);
    }

    @Override
    public void unload(String name) {
        cache.remove(name);
    }

    /** Returns the slots on the GPU, or 0 without LoRA. */
    public int maxLoras() {
        return config.maxLoras();
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
        return !isOn() || name.isEmpty() || names.size() < config.maxLoras() || names.contains(name);
    }

    /** Begins to count the device's work for a step. */
    public void beginBatch() {
        names.clear();
        numTokens = 0;
    }

    /** Counts the tokens of a sequence of the batch with this adapter, or an empty name for none. */
    public void schedule(String name, int count) {
        if (!name.isEmpty()) {
            names.add(name);
            numTokens += count;
        }
    }

    /** Brings the adapters of the batch to the GPU, and returns what that and they take. */
    public BatchShape.Loras endBatch() {
        names.forEach(cache::use);
        return new BatchShape.Loras(names.size(), numTokens, cache.takeLoads(), cache.takeActivations());
    }
}
