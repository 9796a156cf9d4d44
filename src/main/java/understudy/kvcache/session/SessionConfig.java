package understudy.kvcache.session;

import io.soabase.recordbuilder.core.RecordBuilder;
import understudy.kvcache.BlockCacheSpec;
import understudy.kvcache.FullHit;
import understudy.kvcache.KvBlocks;
import understudy.kvcache.KvCache;
import understudy.kvcache.PrefixUnit;

/**
 * Settings of a memory that finds prefixes by session instead of by content.
 *
 * @param mode how its blocks are counted; not {@link SessionMode#OFF}
 * @param globalPrefixes store of prefixes that all sessions share
 * @param fullHit treatment of a request whose whole prompt is cached
 */
@RecordBuilder
@RecordBuilder.Options(enableWither = true)
public record SessionConfig(
        KvBlocks blocks, boolean sharesWithinStep, SessionMode mode, GlobalPrefixLimits globalPrefixes, FullHit fullHit)
        implements BlockCacheSpec, SessionConfigBuilder.With {

    @Override
    public KvCache create() {
        return new SessionKvCache(this);
    }

    @Override
    public long maxTokens() {
        return PrefixUnit.BLOCK.maxTokens(numGpuBlocks(), blockSize());
    }

    @Override
    public boolean findsBySession() {
        return true;
    }
}
