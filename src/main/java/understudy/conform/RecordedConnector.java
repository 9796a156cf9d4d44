package understudy.conform;

import java.util.Set;
import org.jspecify.annotations.Nullable;
import understudy.kvcache.connector.ConnectorSpec;
import understudy.kvcache.connector.KvConnector;
import understudy.kvcache.connector.KvSource;
import understudy.kvcache.tier.OffloadingSpec;
import understudy.kvcache.tier.TierPolicy;
import understudy.kvcache.tier.TierSpec;

/**
 * Connector of a recorded run, and the times at which its transfers are reported.
 *
 * @param isProducer whether {@code kv_role} is {@code kv_producer} or {@code kv_both}
 * @param isConsumer whether {@code kv_role} is {@code kv_consumer} or {@code kv_both}
 * @param recomputes whether what could not be loaded is computed instead ({@code kv_load_failure_policy})
 * @param offload settings of the host memory; null if requests say themselves what comes from elsewhere
 */
record RecordedConnector(
        boolean isProducer,
        boolean isConsumer,
        boolean recomputes,
        @Nullable Offload offload) {

    /** Part of a request in a recording. */
    enum Role {
        /** Its prompt comes from elsewhere, once. */
        DECODE,
        /** Its blocks stay after its end. */
        PREFILL,
        /** Its first tokens are to be had from elsewhere each time. */
        EXTERNAL
    }

    /**
     * Transfer of a request's KV.
     *
     * @param steps how long its transfer takes
     * @param tokens how many are to be had
     * @param isAsync whether they come while other steps run
     * @param defers how often the answer is that it is not known yet
     * @param fail which of the loaded blocks is invalid, or -1
     */
    record Transfer(Role role, int steps, int tokens, boolean isAsync, int defers, int fail) {}

    /** Host memory, and how many steps a transfer to and from it takes; see {@code TierSpec}. */
    record Offload(
            int cpuBlocks,
            boolean isArc,
            int blocksPerChunk,
            int storeThreshold,
            boolean isPromptOnly,
            int loadSteps,
            int storeSteps) {
        OffloadingSpec spec(boolean defersFrees, boolean usesEagle) {
            var policy = isArc ? TierPolicy.ARC : TierPolicy.LRU;
            var tier = new TierSpec(
                    cpuBlocks, policy, storeThreshold, TierSpec.of(cpuBlocks).maxTrackerSize());
            return new OffloadingSpec(tier, blocksPerChunk, isPromptOnly, defersFrees, usesEagle, 0);
        }
    }

    /** Returns how a memory is built for it. */
    ConnectorSpec spec(int maxStepsInFlight, boolean usesEagle) {
        boolean defersFrees = isConsumer && maxStepsInFlight > 1;
        return offload == null ? new Scripted(isProducer, defersFrees) : offload.spec(defersFrees, usesEagle);
    }

    private record Scripted(boolean requiresKvDelivery, boolean defersFrees) implements ConnectorSpec {
        @Override
        public Set<KvSource> sources() {
            return Set.of();
        }

        @Override
        public boolean readsPlans() {
            return false;
        }

        @Override
        public KvConnector create(int blockSize, boolean enablePrefixCaching) {
            throw new UnsupportedOperationException("a recording comes with its connector");
        }
    }
}
