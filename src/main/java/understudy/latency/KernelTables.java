package understudy.latency;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Kernel times measured inside an engine, for one model on one GPU of a tensor-parallel group, in microseconds.
 *
 * @param dense kernels of all tokens, by name and then by tokens
 * @param attention by tokens of the prefill chunk, its tokens in the KV cache, decodes, and their tokens in the KV
 *     cache each
 * @param perSequence kernels of sampling, by name and then by sequences that sample
 * @param experts experts of one layer, by tokens and experts in use; null for a dense model
 */
public record KernelTables(
        Map<String, KernelTable> dense,
        KernelTable attention,
        Map<String, KernelTable> perSequence,
        @Nullable KernelTable experts) {

    /** Returns the most tokens per step that all dense kernels were measured with. */
    public int maxTokens() {
        return dense.values().stream().mapToInt(KernelTable::maxKey).min().orElse(0);
    }

    /** Returns the most sampling sequences per step that were measured. */
    public int maxSequences() {
        return perSequence.values().stream().mapToInt(KernelTable::maxKey).min().orElse(0);
    }
}
