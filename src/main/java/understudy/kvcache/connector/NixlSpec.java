package understudy.kvcache.connector;

import java.util.Set;

/**
 * Settings of vLLM's {@code NixlConnector}.
 *
 * @param isProducer whether the replica may compute prompts for others ({@code kv_role} {@code kv_producer} or {@code
 *     kv_both})
 * @param defersFrees see {@link ConnectorSpec#defersFrees}
 */
public record NixlSpec(boolean isProducer, boolean defersFrees) implements ConnectorSpec {
    @Override
    public KvConnector create(int blockSize, boolean enablePrefixCaching) {
        return new NixlConnector(blockSize);
    }

    @Override
    public boolean requiresKvDelivery() {
        return isProducer;
    }

    @Override
    public Set<KvSource> sources() {
        return Set.of(KvSource.PEER);
    }

    @Override
    public boolean readsPlans() {
        return false;
    }
}
