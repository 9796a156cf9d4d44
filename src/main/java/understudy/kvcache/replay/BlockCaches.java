package understudy.kvcache.replay;

/** Creates the cache of a policy. */
final class BlockCaches {
    private BlockCaches() {}

    static BlockCache create(ReplaySettings settings) {
        int capacity = settings.capacityBlocks();
        return switch (settings.policy()) {
            case LRU -> new LruCache(capacity);
            default -> throw new UnsupportedOperationException(settings.policy() + " cannot be replayed");
        };
    }

    static BlockCache create(ReplaySettings settings, NextUse nextUse) {
        return create(settings);
    }
}
