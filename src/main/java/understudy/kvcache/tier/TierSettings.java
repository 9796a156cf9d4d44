package understudy.kvcache.tier;

import java.util.Optional;
import understudy.settings.Section;

/**
 * The sections of the slower memories in {@code kv-cache.tiers}, as far as they say what such a memory keeps.
 *
 * @param numBlocks KV blocks of a chunk, the unit that is moved and found outside of the GPU
 * @param blockSize tokens of a block
 * @param bytesPerToken KV of a token on all GPUs, copies included
 */
public record TierSettings(int numBlocks, int blockSize, double bytesPerToken) {
    private static final double BYTES_PER_GIB = 1 << 30;

    /** Most chunks of a memory. */
    public static final int MAX_BLOCKS = 1 << 28;

    private static final int MAX_TOKENS = 1 << 30;

    /** Reads the length of a chunk. */
    public static TierSettings read(Section host, int blockSize, double bytesPerToken) {
        return new TierSettings(host.wholeNumber("blocks-per-chunk", 1, MAX_BLOCKS), blockSize, bytesPerToken);
    }

    /** Returns whether a replica has slower memories behind its GPUs. */
    public static boolean areOn(Section host) {
        return !host.isDefault("gib") || !host.isDefault("tokens");
    }

    /** Returns the key that says how large a memory is. */
    public static String sizeKey(Section memory) {
        return memory.number("gib", 0, Double.MAX_VALUE) > 0 ? "gib" : "tokens";
    }

    /** Returns how many chunks fit into the size that a section says; 0 if it says none. */
    public int capacity(Section memory) {
        double bytes = memory.number("gib", 0, Double.MAX_VALUE) * BYTES_PER_GIB;
        double tokens = memory.wholeNumber("tokens", 0, MAX_TOKENS);
        double numChunks = Math.max(bytes / bytesPerToken, tokens) / (numBlocks * blockSize);
        if (numChunks > MAX_BLOCKS) {
            throw memory.unusable("gib", "which is room for more than " + MAX_BLOCKS + " chunks");
        }
        return (int) numChunks;
    }

    /**
     * Reads the section of the host memory; empty if it has no size.
     *
     * @param isAsync whether a step may be planned before the one before has ended
     * @param usesEagle see {@link OffloadingSpec}
     * @param numStores slower memories behind the host's
     */
    public Optional<OffloadingSpec> host(Section host, boolean isAsync, boolean usesEagle, int numStores) {
        var policy = host.choice("eviction-policy", TierPolicy.class);
        int threshold = host.wholeNumber("store-threshold", 0, MAX_BLOCKS);
        int tracked = host.wholeNumber("max-tracker-size", 1, MAX_BLOCKS);
        boolean promptOnly = host.bool("offload-prompt-only");
        int capacity = capacity(host);
        if (capacity == 0) {
            return Optional.empty();
        }
        var tier = new TierSpec(capacity, policy, threshold, tracked);
        return Optional.of(new OffloadingSpec(tier, numBlocks, promptOnly, isAsync, usesEagle, numStores));
    }
}
