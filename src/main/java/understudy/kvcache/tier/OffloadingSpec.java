package understudy.kvcache.tier;

import java.util.Set;
import understudy.kvcache.connector.ConnectorSpec;
import understudy.kvcache.connector.KvConnector;
import understudy.kvcache.connector.KvSource;

/**
 * Settings of vLLM's {@code OffloadingConnector} ({@code kv_connector_extra_config}).
 *
 * @param tier the host memory
 * @param blocksPerChunk KV blocks that are moved and found as one, at least 1
 * @param offloadPromptOnly whether blocks that end in an answer stay out
 * @param defersFrees see {@link ConnectorSpec#defersFrees}
 * @param usesEagle whether drafts are of the EAGLE family, whose KV is not final while a request decodes
 * @param numStores slower memories behind the host's: what is written to the one is written to the others, too, and what
 *     is asked for comes back the same way
 */
public record OffloadingSpec(
        TierSpec tier,
        int blocksPerChunk,
        boolean offloadPromptOnly,
        boolean defersFrees,
        boolean usesEagle,
        int numStores)
        implements ConnectorSpec {

    /** Checks the ranges. */
    public OffloadingSpec {
        if (blocksPerChunk < 1) {
            throw new IllegalArgumentException("blocksPerChunk must be at least 1: " + blocksPerChunk);
        }
    }

    @Override
    public KvConnector create(int blockSize, boolean enablePrefixCaching) {
        return new OffloadingConnector(this, blockSize, enablePrefixCaching, attempt -> {});
    }

    @Override
    public boolean requiresKvDelivery() {
        return false;
    }

    @Override
    public Set<KvSource> sources() {
        return Set.of(KvSource.HOST);
    }

    @Override
    public boolean readsPlans() {
        return true;
    }
}
