package understudy.cluster.memory;

import org.apache.pekko.actor.typed.ActorRef;
import understudy.cluster.KvExchange;
import understudy.kvcache.PrefixCacheStats;
import understudy.report.transfers.KvTraffic;

/** KV on the move between a memory and others. */
sealed interface KvMoves permits KvTransfers, KvPushes, StorageMoves {

    /** Handles a message about it. */
    void on(KvExchange.Command command);

    /** The memory was asked something, which may have begun a move. */
    default void onAsked() {}

    /**
     * Starts the moves of a plan.
     *
     * @param whenReady runs as soon as nothing stands in the way of the step
     */
    default void onPlanEnded(Runnable whenReady) {
        whenReady.run();
    }

    /** The memory was settled, and some requests may have left KV behind for others. */
    default void onHeld() {}

    /** A request has ended before its answer was complete. */
    default void onFreed(long requestId) {}

    /** A replica has ended with which KV was exchanged. */
    void onHolderGone(ActorRef<?> replica);

    /** Recounts what others keep for this memory, and runs {@code whenDone} if that is sound. */
    default void audit(Runnable whenDone) {
        whenDone.run();
    }

    /** Returns the traffic since the last call, for the subscriber. */
    KvTraffic taken(PrefixCacheStats external);

    /** Returns the traffic since the start. */
    KvTraffic all(PrefixCacheStats external);

    /** Gives everything up that others have for this memory, which is no more. */
    void stop();
}
