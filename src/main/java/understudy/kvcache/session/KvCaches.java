package understudy.kvcache.session;

import understudy.kvcache.KvCache;
import understudy.kvcache.KvCacheConfig;
import understudy.kvcache.content.ConnectedKvCacheManager;
import understudy.kvcache.content.KvCacheManager;
import understudy.kvcache.content.PromptKvCache;
import understudy.kvcache.hybrid.HybridKvCache;

/** Factory of KV memories. */
public final class KvCaches {
    private KvCaches() {}

    /**
     * Creates an empty memory: content-addressed as vLLM's or roseinfer's, or by session as the session cache has it.
     */
    public static KvCache create(KvCacheConfig config) {
        if (config.findsBySession()) {
            return new SessionKvCache(config);
        }
        if (config.groups() != null) {
            return new HybridKvCache(config);
        }
        return switch (config.prefixUnit()) {
            case BLOCK -> config.connector() == null ? new KvCacheManager(config) : new ConnectedKvCacheManager(config);
            case PROMPT -> new PromptKvCache(config);
        };
    }
}
