package understudy.engine.lora;

import it.unimi.dsi.fastutil.objects.ObjectLinkedOpenHashSet;

/**
 * LoRA adapters of a replica: those in the host's memory, and of them those on the GPU, each the least recently used first
 * (vLLM {@code LRUCacheWorkerLoRAManager} and {@code LRUCacheLoRAModelManager}).
 *
 * <p>As there, an adapter makes room for itself before anything is known of those that the same step needs next. Those on
 * the GPU are the latest of those on the host, so that one which leaves the host has left the GPU, or leaves it now. vLLM
 * goes through a set, in the order of the adapters' numbers as Python
 * hashes them; here the order is that of the schedule.
 */
public final class AdapterCache {
    private final LoraConfig config;
    private final ObjectLinkedOpenHashSet<String> onHost = new ObjectLinkedOpenHashSet<>();
    private final ObjectLinkedOpenHashSet<String> onGpu = new ObjectLinkedOpenHashSet<>();
    private int numLoads;
    private int numActivations;

    /** Creates a cache with the adapters that are there from the start, which do not count as loaded. */
    public AdapterCache(LoraConfig config) {
        this.config = config;
        config.modules().forEach(this::use);
        numLoads = 0;
        numActivations = 0;
    }

    /** Brings an adapter to the GPU, if it is not there, and makes it the most recently used one. */
    public void use(String name) {
        if (!onHost.contains(name)) {
            if (onHost.size() >= config.maxCpuLoras()) {
                onHost.removeFirst();
            }
            numLoads++;
        }
        onHost.addAndMoveToLast(name);
        if (!onGpu.contains(name)) {
            if (onGpu.size() >= config.maxLoras()) {
                onGpu.removeFirst();
            }
            numActivations++;
        }
        onGpu.addAndMoveToLast(name);
    }

    /** Forgets an adapter, if it is there. */
    public void remove(String name) {
        onHost.remove(name);
        onGpu.remove(name);
    }

    /** Returns how many adapters were read from disk since this was last asked. */
    public int takeLoads() {
        int taken = numLoads;
        numLoads = 0;
        return taken;
    }

    /** Returns how many adapters were copied to the GPU since this was last asked. */
    public int takeActivations() {
        int taken = numActivations;
        numActivations = 0;
        return taken;
    }
}
