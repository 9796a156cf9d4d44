package understudy.cluster;

import io.soabase.recordbuilder.core.RecordBuilder;
import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.ints.IntImmutableList;
import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongImmutableList;
import it.unimi.dsi.fastutil.longs.LongList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.pekko.actor.typed.ActorRef;
import org.jspecify.annotations.Nullable;
import understudy.engine.StepResult;
import understudy.engine.lora.AdapterUse;
import understudy.engine.speculation.DraftCounts;
import understudy.faults.Fault;
import understudy.faults.ReplicaState;
import understudy.figure.OwnFigure;
import understudy.figure.OwnFigures;
import understudy.kvcache.KvBlockCounts;
import understudy.kvcache.KvEvent;
import understudy.kvcache.PrefixCacheStats;
import understudy.kvcache.connector.TransferJob;
import understudy.report.Outcome;
import understudy.report.RequestRecord;
import understudy.report.transfers.KvTraffic;
import understudy.report.transfers.PromptTokens;
import understudy.routing.RoutingScores;
import understudy.transfer.TransferEnded;

/**
 * Event of a cluster. All of them go to one {@link Subscriber}, in order for each replica and for each memory: live page
 * and KV event publisher are told the same. The collector of figures gets those of steps and requests. Times are virtual nanoseconds. Immutable; any thread may read one.
 */
public sealed interface ClusterEvent {

    /**
     * Step of a replica that has ended; one for each step. A {@link KvCacheChanged} follows for those who read it.
     *
     * @param startNanos when the device began with it
     * @param numRequests requests in its batch
     * @param numTokens tokens that it computed
     * @param kind the engine's name for such a batch, as {@code extend}; empty if it has one kind only
     * @param numSampled output tokens that requests got
     * @param drafts counts of drafts
     * @param gapNanos gaps between these tokens and the same requests' tokens before, as runs of equal values; what a
     *     request gets in one step is one gap
     * @param gapCounts how long each of these runs is
     * @param ended requests that ended with it
     * @param firstTokens of requests that got their first token; nothing without a subscriber
     * @param load after it; nothing without a subscriber
     * @param own state of the engine after it, as far as only its family has it
     */
    @RecordBuilder
    @RecordBuilder.Options(enableWither = true)
    record StepEnded(
            int replicaIndex,
            long startNanos,
            long endNanos,
            int numRequests,
            int numTokens,
            String kind,
            int numSampled,
            DraftCounts drafts,
            LongList gapNanos,
            IntList gapCounts,
            List<RequestRecord> ended,
            FirstTokens firstTokens,
            EngineLoad load,
            OwnFigures own)
            implements ClusterEvent {

        /** Copies the figures of a result, which is used again for the next step. */
        public static StepEnded of(
                int replicaIndex,
                Step step,
                StepResult result,
                List<RequestRecord> ended,
                FirstTokens firstTokens,
                EngineLoad load,
                OwnFigures own) {
            return new StepEnded(
                    replicaIndex,
                    step.startNanos,
                    step.endNanos,
                    step.numRequests,
                    step.numTokens,
                    step.kind,
                    result.numSampledTokens(),
                    result.takeDrafts(),
                    copy(result.gapNanos()),
                    copy(result.gapCounts()),
                    ended,
                    firstTokens,
                    load,
                    own);
        }

        private static LongList copy(LongArrayList list) {
            return list.size() == 1 ? LongList.of(list.getLong(0)) : new LongImmutableList(list);
        }

        private static IntList copy(IntArrayList list) {
            return list.size() == 1 ? IntList.of(list.getInt(0)) : new IntImmutableList(list);
        }

        /** Returns how many of the tokens it has sampled belong to an answer: those of prefill legs do not. */
        public int numAnswerTokens() {
            int count = numSampled;
            for (int i = 0; i < ended.size(); i++) {
                var request = ended.get(i);
                count -= request.outcome() == Outcome.PREFILL_LEG ? request.numOutputTokens() : 0;
            }
            return count;
        }
    }

    /** Times and size of a step. */
    record Step(long startNanos, long endNanos, int numRequests, int numTokens, String kind) {}

    /** Request that has ended without a step: it was turned away, given up, or failed. */
    record RequestEnded(RequestRecord ended) implements ClusterEvent {}

    /** Queues of a replica that have changed between steps. */
    record LoadChanged(int replicaIndex, EngineLoad load) implements ClusterEvent {}

    /**
     * Move of KV to or from a replica that has ended.
     *
     * @param requestId for which it was
     * @param startNanos when a link was asked for it
     * @param bytes those that went through: all, unless it has failed
     */
    record KvMoved(
            int replicaIndex,
            TransferJob.Kind kind,
            long requestId,
            long startNanos,
            long endNanos,
            long bytes,
            boolean isFailed)
            implements ClusterEvent {

        public static KvMoved of(int replicaIndex, TransferJob job, TransferEnded ended) {
            return new KvMoved(
                    replicaIndex,
                    job.kind(),
                    job.requestId(),
                    ended.startNanos(),
                    ended.endNanos(),
                    ended.bytes(),
                    ended.isFailed());
        }

        /** Returns whether the request waited until it was over. */
        public boolean isWaitedFor() {
            return kind.isAwaited() || kind == TransferJob.Kind.PROMOTE;
        }
    }

    /**
     * Push of a request's KV to or from a replica that has ended; each of the two tells its own side.
     *
     * @param isMet whether both replicas knew each other, or, where prompts are computed, of places
     * @param bootstrapNanos how long the request waited for that
     * @param placesNanos how long it waited for places after that; 0 where prompts are computed
     * @param transferNanos how long it waited for the end of the transfer then, or 0 if it did not come to that
     * @param bytes of all pieces
     */
    record KvPushEnded(
            int replicaIndex,
            long requestId,
            boolean isMet,
            boolean isFailed,
            long bootstrapNanos,
            long placesNanos,
            long transferNanos,
            long bytes)
            implements ClusterEvent {}

    /** KV cache of a replica, after a step or when it has changed between steps. */
    record KvCacheChanged(int replicaIndex, KvCacheState kvCache) implements ClusterEvent {}

    /** Replica that starts, or restarts after a crash, with an empty KV cache. */
    record KvCacheStarted(int replicaIndex) implements ClusterEvent {}

    /** Removed replica that is gone: nothing more comes from it. */
    record KvCacheEnded(int replicaIndex) implements ClusterEvent {}

    /**
     * Choice of the router.
     *
     * @param numUncachedTokens prompt tokens that the router does not believe to be cached there
     * @param ready the replicas that could have been chosen, in ascending order; none unless {@link Detail#CHOICES} are
     *     wanted
     * @param scores as they were when the choice was made, before the request counted; none unless they are wanted
     */
    record Routed(
            long requestId, int replicaIndex, long atNanos, int numUncachedTokens, IntList ready, RoutingScores scores)
            implements ClusterEvent {}

    /** Requests that wait in the router, when their number has changed. */
    record RequestsHeld(long atNanos, int numRequests) implements ClusterEvent {}

    /** States of all replicas, by index, of which one may have changed. */
    record ReplicasChanged(long atNanos, List<ReplicaState> states) implements ClusterEvent {}

    /** Fault that only the edge can carry out begins, or ends. */
    record StreamsMalformed(Fault.MalformStreams fault) implements ClusterEvent {}

    /**
     * First tokens of a step.
     *
     * @param requestIds of the requests that got one
     * @param ttftNanos the time from each request's arrival
     * @param promptTokens of these requests
     * @param legTokens prompt tokens that were computed for other replicas, by requests that are not among these
     * @param resumedIds of requests that got their first token here, after others on a replica that has crashed
     */
    record FirstTokens(
            LongList requestIds,
            LongList ttftNanos,
            PromptTokens promptTokens,
            PromptTokens legTokens,
            LongList resumedIds) {
        public static final FirstTokens NONE =
                new FirstTokens(LongList.of(), LongList.of(), PromptTokens.NONE, PromptTokens.NONE, LongList.of());
    }

    /**
     * Queues of a replica, and what it has counted since the start of the run (vLLM {@code SchedulerStats}).
     *
     * @param numRequests requests that the replica was given
     * @param numDeferred how many of those that wait could not be admitted when it was their turn
     * @param numPreemptions how often a request lost its blocks
     * @param adapters LoRA adapters of its requests
     * @param queues how full queues are that only its family of engines has
     */
    record EngineLoad(
            int numRunning,
            int numWaiting,
            int numDeferred,
            long numRequests,
            long numPreemptions,
            AdapterUse adapters,
            List<OwnFigure> queues) {
        public static final EngineLoad NONE = new EngineLoad(0, 0, 0, 0, 0, AdapterUse.NONE, List.of());
    }

    /**
     * KV cache of a replica.
     *
     * @param usage share of blocks that are referenced, 0 to 1
     * @param prefixCache lookups since the start of the run
     * @param events changes of the prefix table since the last time, in order; none unless the subscriber wants them
     * @param own counts since the memory's start, and levels, that only memories of its family have
     * @param traffic with other memories: transfers since the last time, all else since the memory's start; null without a
     *     connector
     */
    record KvCacheState(
            long atNanos,
            double usage,
            KvBlockCounts blocks,
            PrefixCacheStats prefixCache,
            int blockSize,
            List<KvEvent> events,
            List<OwnFigure> own,
            @Nullable KvTraffic traffic) {}

    /** Part of an event that takes time to put together, so that it is left out where nobody reads it. */
    enum Detail {
        /** States of KV caches. */
        KV_CACHES,
        /** Changes of prefix tables, with the tokens of each block; they come with the states of KV caches. */
        KV_EVENTS,
        /** What the router chose from, and why. */
        CHOICES
    }

    /**
     * Subscriber of a cluster's events, which may hand them on to several. A cluster without one does nothing for it.
     *
     * @param details those that it reads, or one that it tells does
     * @param next another one, or null
     */
    record Subscriber(
            ActorRef<? super ClusterEvent> ref,
            Set<Detail> details,
            @Nullable Subscriber next) {
        public Subscriber(ActorRef<? super ClusterEvent> ref, Set<Detail> details) {
            this(ref, details, null);
        }

        /** Tells one that reads some details before another one, if there is one. */
        public static Subscriber before(
                @Nullable Subscriber next, ActorRef<? super ClusterEvent> ref, Set<Detail> details) {
            var all = new HashSet<>(details);
            if (next != null) {
                all.addAll(next.details);
            }
            return new Subscriber(ref, Set.copyOf(all), next);
        }

        /** Returns whether a detail is read. */
        public boolean wants(Detail detail) {
            return details.contains(detail) || (detail == Detail.KV_CACHES && details.contains(Detail.KV_EVENTS));
        }

        /** Tells all of them. */
        public void tell(ClusterEvent event) {
            ref.tell(event);
            if (next != null) {
                next.tell(event);
            }
        }
    }
}
