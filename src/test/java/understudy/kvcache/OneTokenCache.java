package understudy.kvcache;

import java.util.List;
import understudy.kvcache.content.ContentConfig;
import understudy.kvcache.content.KvCacheManager;
import understudy.kvcache.eviction.EvictionPolicy;
import understudy.kvcache.eviction.FreeBlocks;
import understudy.kvcache.eviction.FreeOrder;
import understudy.prompt.Prompt;
import understudy.prompt.TokenIds;
import understudy.prompt.TokenSource;
import understudy.prompt.Xxh3BlockHasher;

/**
 * A cache whose blocks hold one token, so that a request for a token is an access to a key, as in the papers about
 * eviction policies.
 */
public final class OneTokenCache {
    private static final int NO_LIMIT = Integer.MAX_VALUE;
    private static final TokenSource NO_OUTPUT = index -> {
        throw new AssertionError("nothing is answered");
    };

    public final KvCacheManager kvCache;
    private long step;

    /** Creates an empty cache with room for {@code capacity} keys. */
    public OneTokenCache(EvictionPolicy policy, int capacity) {
        kvCache = new KvCacheManager(ContentConfig.vllm(KvBlocks.of(new Xxh3BlockHasher(1), capacity + 1))
                .withFreeBlocks(new FreeBlocks(policy, FreeOrder.UNHASHED_FIRST))
                .withFullHit(FullHit.DECODE_DIRECTLY));
    }

    /** Asks for each key in turn, and lets go of it at once. */
    public void use(int... keys) {
        for (int key : keys) {
            hold(0, key);
            release(0);
        }
    }

    /** Asks for a key without letting go of it; returns whether it was cached. */
    public boolean hold(int handle, int... keys) {
        var answer = kvCache.admit(AdmissionRequest.of(lookup(handle, keys), NO_LIMIT, keys.length));
        return ((Admission.Admitted) answer).events().isHit();
    }

    public void release(int handle) {
        kvCache.free(handle, ++step);
    }

    public boolean contains(int key) {
        boolean isCached = kvCache.match(List.of(lookup(999, new int[] {key})))[0] > 0;
        release(999);
        return isCached;
    }

    public static PrefixLookup lookup(int handle, int[] keys) {
        return new PrefixLookup(handle, new Prompt(new TokenIds(keys)), NO_OUTPUT, keys.length, true);
    }
}
