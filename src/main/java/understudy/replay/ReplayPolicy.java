package understudy.replay;

import java.util.Arrays;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import understudy.replay.cache.ArcCache;
import understudy.replay.cache.BlockCache;
import understudy.replay.cache.FifoCache;
import understudy.replay.cache.InfiniteCache;
import understudy.replay.cache.LfuCache;
import understudy.replay.cache.LruCache;
import understudy.replay.cache.LruLongestPrefixCache;
import understudy.replay.cache.S3FifoCache;
import understudy.replay.cache.S3FifoSizes;

/**
 * The eviction policies that a trace can be replayed with. Those that the live pool has too ({@link
 * understudy.kvcache.eviction.EvictionPolicy}) go by the access here: nothing is in use for longer than it takes to
 * touch it.
 */
public enum ReplayPolicy {
    /** The block whose last access is the oldest; every access is an instant of its own. */
    LRU,
    /** The block with the fewest accesses since it came in; among equals the one whose last access is the oldest. */
    LFU,
    /** The block with the fewest accesses since it came in; among equals the one that came in first. */
    LFU_FIFO,
    /** The block that came in first. */
    FIFO,
    /** S3-FIFO: blocks that are accessed only once go soon. */
    S3FIFO,
    /** ARC: recency against frequency, balanced by the misses of each. */
    ARC,
    /** The first prefix caching of vLLM (PR #2762): the oldest last request, then the block deepest in its prompt. */
    LRU_LONGEST_PREFIX,
    /**
     * Belady's MIN on blocks: the one whose next access is the furthest away. No policy that must admit hits more
     * blocks.
     */
    BELADY,
    /**
     * MIN that need not admit a block whose next access is further away than all others': no policy hits more blocks.
     */
    BELADY_BYPASS,
    /** No eviction: the hits of a cache without bounds. */
    INFINITE;

    /** Returns the policy of this name, as {@link #toString} has it. */
    public static ReplayPolicy of(String name) {
        return Arrays.stream(values())
                .filter(policy -> policy.toString().equals(name.toLowerCase(Locale.ROOT)))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("policy is " + name + ", must be one of "
                        + Arrays.stream(values()).map(ReplayPolicy::toString).collect(Collectors.joining(", "))));
    }

    /** Returns whether the policy has to know the trace to its end before it begins. */
    public boolean needsFuture() {
        return this == BELADY || this == BELADY_BYPASS;
    }

    /** Returns whether a capacity means anything to the policy. */
    public boolean bounded() {
        return this != INFINITE;
    }

    /**
     * Checks that the policy is defined for a capacity.
     *
     * @param capacityBlocks blocks in the cache; any number will do where the policy is not {@link #bounded}
     * @param smallRatio share of the small queue of {@link #S3FIFO}
     * @throws IllegalArgumentException if it is not; the message says why, and what is allowed
     */
    public void checkCapacity(int capacityBlocks, double smallRatio) {
        if (bounded() && capacityBlocks < 1) {
            throw new IllegalArgumentException("capacity is " + capacityBlocks + ", must be at least 1 block");
        }
        if (this == S3FIFO) {
            S3FifoSizes.of(capacityBlocks, smallRatio);
        }
    }

    /**
     * Creates an empty cache.
     *
     * @param nextUse the future, for a policy that needs it
     */
    BlockCache create(ReplaySettings settings, @Nullable NextUse nextUse) {
        int capacity = settings.capacityBlocks();
        return switch (this) {
            case LRU -> new LruCache(capacity);
            case LFU -> new LfuCache(capacity, false);
            case LFU_FIFO -> new LfuCache(capacity, true);
            case FIFO -> new FifoCache(capacity);
            case S3FIFO -> new S3FifoCache(S3FifoSizes.of(capacity, settings.smallRatio()), settings.maxFreq());
            case ARC -> new ArcCache(capacity);
            case LRU_LONGEST_PREFIX -> new LruLongestPrefixCache(capacity);
            case BELADY, BELADY_BYPASS -> known(nextUse).cache(capacity, this == BELADY_BYPASS);
            case INFINITE -> new InfiniteCache();
        };
    }

    private NextUse known(@Nullable NextUse nextUse) {
        return Objects.requireNonNull(nextUse, () -> this + " needs to know the next use of every block");
    }

    /** Returns the name on the command line, such as {@code lru-longest-prefix}. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
