package understudy.engine.lora;

/**
 * Places for LoRA adapters (vLLM {@code LoRAConfig} in {@code vllm/config/lora.py}).
 *
 * @param maxLoras slots on the GPU, and so most different adapters in one step; 0 without LoRA
 * @param maxCpuLoras adapters in the host's memory, those on the GPU among them; at least {@code maxLoras}
 */
public record LoraConfig(int maxLoras, int maxCpuLoras) {
    public static final LoraConfig NONE = new LoraConfig(0, 0);

    /** Checks the ranges. */
    public LoraConfig {
        if (maxLoras < 0 || maxCpuLoras < maxLoras) {
            throw new IllegalArgumentException("maxLoras " + maxLoras + ", maxCpuLoras " + maxCpuLoras);
        }
    }

    /** Returns places for as many adapters in the host's memory as on the GPU, which is vLLM's default. */
    public static LoraConfig ofSlots(int maxLoras) {
        return new LoraConfig(maxLoras, maxLoras);
    }

    public boolean isOn() {
        return maxLoras > 0;
    }
}
