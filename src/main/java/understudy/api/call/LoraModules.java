package understudy.api.call;

import java.util.Map;

/**
 * LoRA adapters that a server has from its start (vLLM {@code --lora-modules}).
 *
 * @param modules path by name, in order
 */
public record LoraModules(Map<String, String> modules) {}
