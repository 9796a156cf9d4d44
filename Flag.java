package understudy.app.vllm;

import java.util.List;

/**
 * Flag of {@code vllm serve}.
 *
 * @param names the long name without its hyphens, and behind it short ones
 * @param kind what values it takes
 * @param effect the setting that it becomes; or, of one without an effect, why that is so, which may be empty
 * @param hasEffect whether there is such a setting
 */
record Flag(List<String> names, Kind kind, String effect, boolean hasEffect) {
    /** Values of a flag, and what becomes of them. */
    enum Kind {
        /** No value; {@code --no-x} switches it off. */
        SWITCH,
        /** One value, which is taken as it is. */
        TEXT,
        /** A whole number, also as 8k (8,000) or 8K (8,192). */
        SIZE,
        /** Seconds. */
        SECONDS,
        /** Several values. */
        NAMES,
        /** Several values, of which the first counts. */
        FIRST,
        /** Format of weights. */
        DTYPE,
        /** Way of quantizing the weights. */
        QUANTIZATION,
        /** Format of the KV cache. */
        KV_DTYPE,
        /** Hash of a block. */
        HASH,
        /** Numbers and ranks of replicas. */
        RANKS,
        /** Names of adapters with their paths, or JSON. */
        LORA_MODULES,
        /** JSON about KV events. */
        KV_EVENTS,
        /** JSON about connectors. */
        KV_TRANSFER,
        /** JSON about drafts. */
        SPECULATIVE;

        /** Returns whether the value is a JSON object, whose keys can be given one by one behind a dot. */
        boolean isJson() {
            return this == KV_EVENTS || this == KV_TRANSFER || this == SPECULATIVE;
        }

        /** Returns whether several values may follow. */
        boolean isList() {
            return this == NAMES || this == FIRST || this == LORA_MODULES;
        }
    }

    String name() {
        return names.get(0);
    }
}
