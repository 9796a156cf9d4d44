package understudy.kvcache.connector;

import it.unimi.dsi.fastutil.longs.LongList;
import java.util.List;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import understudy.kvcache.ConnectedBlocks;

/**
 * Scheduler's side of a connector (vLLM {@code KVConnectorBase_V1}): says how much of a prompt's KV is to be had from
 * elsewhere, and whether blocks have to stay for a transfer.
 */
public interface KvConnector {

    /**
     * Returns how many tokens behind the local hits a waiting request may get from elsewhere (vLLM {@code
     * get_num_new_matched_tokens}).
     */
    ExternalMatch match(ConnectedRequest request, int numLocalTokens);

    /**
     * Records that a request has blocks for its local and external tokens (vLLM {@code update_state_after_alloc}).
     *
     * @param numExternalTokens 0 if nothing comes from elsewhere
     */
    void onAllocated(ConnectedRequest request, int numLocalTokens, int numExternalTokens);

    /** Records that a request has lost its blocks, and waits again. */
    default void onPreempted(ConnectedRequest request) {}

    /**
     * Records the end of a request (vLLM {@code request_finished}), which still has its blocks.
     *
     * @param isComplete whether its answer has come to its end
     * @return whether its blocks have to stay until {@link ConnectedBlocks#release}
     */
    boolean onEnded(ConnectedRequest request, boolean isComplete);

    /** Records the end of a request that has never asked for anything. */
    default void onUnservedEnded(long requestId, @Nullable KvTransferParams params) {}

    /**
     * Starts what a planned step brings with it (vLLM {@code build_connector_meta}).
     *
     * @param scheduled requests that compute in it; none unless {@link ConnectorSpec#readsPlans()}
     * @param numComputedTokens of each of these after the step
     * @return the jobs of this step, in order
     */
    List<TransferJob> onPlanned(List<? extends ConnectedRequest> scheduled, int[] numComputedTokens);

    /**
     * Returns the jobs that have to be over before the step that was planned last runs, because it writes to their
     * blocks; of those that are not yet.
     */
    default long[] jobsToFlush() {
        return new long[0];
    }

    /** Returns which leading chunks the host's memory has; they stay until {@link #takeBack}. */
    default LongList lend(LongList keys) {
        return LongList.of();
    }

    /** Ends the use of chunks that were lent. */
    default void takeBack(LongList keys) {}

    /**
     * Takes chunks that a slower memory has found for a {@link TransferJob.Kind#PROMOTE}.
     *
     * @param source the slower memory
     * @return those that there is room for, and that are to be moved
     */
    default LongList acceptPromotion(long job, LongList keys, KvSource source) {
        return LongList.of();
    }

    /**
     * Records the end of a job; what a failed one was to bring is not there.
     *
     * @return the jobs that follow from it
     */
    List<TransferJob> onJobEnded(long job, boolean isFailed);

    /** Returns the changes of the host's memory since the last call, in order. */
    default List<TierChange> drainChanges() {
        return List.of();
    }

    /** Returns the slower memories behind it. */
    default List<TierState> tiers() {
        return List.of();
    }

    /** Loses, of what slower memories hold and no transfer uses, what has such a hash. */
    default void lose(LongPredicate isLost) {}

    /** Recounts from scratch; throws if any block of a slower memory is lost, or there twice. */
    default void audit() {}
}
