package understudy.engine.vllm;

import understudy.kvcache.KvCache;
import understudy.kvcache.KvCacheConfig;
import understudy.kvcache.content.ConnectedKvCacheManager;
import understudy.kvcache.content.KvCacheManager;
import understudy.kvcache.hybrid.HybridKvCache;
import understudy.kvcache.session.SessionKvCache;

/** Factory of the KV memories that vLLM's scheduler may have. */
public final class VllmMemory {
    private VllmMemory() {}

    /** Creates an empty memory: content-addressed as vLLM's, or by session as the session cache has it. */
    public static KvCache create(KvCacheConfig config) {
        if (config.findsBySession()) {
            return new SessionKvCache(config);
        }
        if (config.groups() != null) {
            return new HybridKvCache(config);
        }
        return config.connector() == null ? new KvCacheManager(config) : new ConnectedKvCacheManager(config);
    }
}
