package understudy.engine.lora;

import java.util.List;

/**
 * LoRA adapters of a replica's requests, as vLLM tells them in {@code vllm:lora_requests_info}.
 *
 * @param maxLoras slots on the GPU; 0 without LoRA
 * @param running adapters of those that run, each once
 * @param waiting adapters of those that wait, each once
 */
public record AdapterUse(int maxLoras, List<String> running, List<String> waiting) {
    public static final AdapterUse NONE = new AdapterUse(0, List.of(), List.of());
}
