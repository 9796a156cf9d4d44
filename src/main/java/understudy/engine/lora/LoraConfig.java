package understudy.engine.lora;

import java.util.List;
import understudy.latency.BatchShape;

/**
 * Places for LoRA adapters (vLLM {@code LoRAConfig} in {@code vllm/config/lora.py}), and the times to fill them.
 *
 * @param maxLoras slots on the GPU, and so most different adapters in one step; 0 without LoRA
 * @param maxCpuLoras adapters in the host's memory, those on the GPU among them; at least {@code maxLoras}
 * @param modules those that are loaded before the first request, in order (vLLM {@code init_static_loras})
 * @param loadNanos from disk to the host's memory, without a step that waits for it; at least 0
 * @param activationNanos from there to the GPU, likewise
 */
public record LoraConfig(
        int maxLoras, int maxCpuLoras, List<String> modules, double loadNanos, double activationNanos) {
    public static final LoraConfig NONE = ofSlots(0);

    /** Checks the ranges. */
    public LoraConfig {
        if (maxLoras < 0 || maxCpuLoras < maxLoras) {
            throw new IllegalArgumentException("maxLoras " + maxLoras + ", maxCpuLoras " + maxCpuLoras);
        }
        modules = List.copyOf(modules);
    }

    /** Returns places for as many adapters in the host's memory as on the GPU, which is vLLM's default. */
    public static LoraConfig ofSlots(int maxLoras) {
        return ofPlaces(maxLoras, maxLoras);
    }

    /** Returns places that are empty at first, and take no time to fill but in a step. */
    public static LoraConfig ofPlaces(int maxLoras, int maxCpuLoras) {
        return new LoraConfig(maxLoras, maxCpuLoras, List.of(), 0, 0);
    }

    /** Returns the same places with these adapters at the start, and these times. */
    public LoraConfig loading(List<String> names, double fromDiskNanos, double toGpuNanos) {
        return new LoraConfig(maxLoras, maxCpuLoras, names, fromDiskNanos, toGpuNanos);
    }

    public boolean isOn() {
        return maxLoras > 0;
    }

    /** Returns how long it takes to load these adapters while no step runs. */
    public long loadingNanos(BatchShape.Loras loras) {
        return Math.round(loras.numLoads() * loadNanos + loras.numActivations() * activationNanos);
    }
}
