package understudy.kvcache;

import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;

/**
 * KV cache groups of a model whose layers do not all need the same part of a sequence, and how a memory treats them
 * (vLLM {@code KVCacheConfig.kv_cache_groups}).
 *
 * @param groups in vLLM's order; at least one
 * @param retentionInterval tokens between the points of a prompt from which on it can be continued in groups that need
 *     only a part of it, 0 for none but its end, or {@link #RETAIN_ALL} (vLLM {@code prefix_cache_retention_interval})
 * @param maxTokensInFlight tokens that all steps in flight may compute, at least 1
 * @param maxTokensPerChunk most tokens of a prompt that one step may compute, at least 1
 */
public record KvGroups(List<KvGroup> groups, int retentionInterval, int maxTokensInFlight, int maxTokensPerChunk) {
    /** The interval that keeps every point from which on a prompt can be continued (vLLM's {@code None}). */
    public static final int RETAIN_ALL = -1;

    /** Checks the ranges. */
    public KvGroups {
        groups = List.copyOf(groups);
        if (groups.isEmpty() || retentionInterval < RETAIN_ALL || maxTokensInFlight < 1 || maxTokensPerChunk < 1) {
            throw new IllegalArgumentException("groups " + groups + ", retention interval " + retentionInterval
                    + ", tokens in flight " + maxTokensInFlight + ", per chunk " + maxTokensPerChunk);
        }
        if (commonBlockSize(groups) > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("groups " + groups + ": too many tokens fill whole blocks of all");
        }
    }

    /** Returns the smallest number of tokens that fills whole blocks of all groups ({@code scheduler_block_size}). */
    public int blockSize() {
        return (int) commonBlockSize(groups);
    }

    /** Returns the same of groups that may have none that fits into an int; then a number that does not, either. */
    public static long commonBlockSize(List<KvGroup> groups) {
        long common = 1;
        for (var group : groups) {
            if (common <= Integer.MAX_VALUE) {
                common = common / gcd((int) common, group.blockSize()) * group.blockSize();
            }
        }
        return common;
    }

    /** Returns the largest number of tokens of which all blocks are multiples ({@code hash_block_size}). */
    public int hashBlockSize() {
        return groups.stream().mapToInt(KvGroup::blockSize).reduce(0, KvGroups::gcd);
    }

    private static int gcd(int a, int b) {
        return b == 0 ? a : gcd(b, a % b);
    }

    /** Returns the tokens per block of the first group of states; 0 if there is none. */
    public int stateBlockSize() {
        return groups.stream()
                .filter(group -> group.kind() == KvGroup.Kind.MAMBA)
                .mapToInt(KvGroup::blockSize)
                .findFirst()
                .orElse(0);
    }

    /** Returns the groups in words, equal ones together. */
    public String reason() {
        return groups.stream().distinct().map(this::countOf).collect(Collectors.joining(", "));
    }

    private String countOf(KvGroup group) {
        String span = group.span() > 0 ? " " + group.span() : "";
        return Collections.frequency(groups, group) + " " + group.kind().vllmName() + span + " in blocks of "
                + group.blockSize();
    }

    /** Returns the blocks that a request of so many tokens needs at most. */
    public long maxBlocks(int numTokens, int maxModelLen) {
        return groups.stream()
                .mapToLong(group -> group.maxBlocks(numTokens, maxTokensInFlight, maxModelLen))
                .sum();
    }

    /** Returns the tokens of the longest sequence for which so many blocks are enough. */
    public int maxTokens(int numUsableBlocks, int maxModelLen) {
        int enough = 0;
        int tooMany = Integer.MAX_VALUE;
        while (tooMany - enough > 1) {
            int middle = enough + (tooMany - enough) / 2;
            if (maxBlocks(middle, maxModelLen) <= numUsableBlocks) {
                enough = middle;
            } else {
                tooMany = middle;
            }
        }
        return enough;
    }

    /**
     * Returns where a prompt is cut, so that its state can be cached there; nowhere unless there are states.
     *
     * @param dropsLastHit whether a hit loses its last block
     */
    public PromptCuts cuts(boolean dropsLastHit) {
        return stateBlockSize() == 0 ? PromptCuts.NONE : new PromptCuts(blockSize(), maxTokensPerChunk, dropsLastHit);
    }
}
