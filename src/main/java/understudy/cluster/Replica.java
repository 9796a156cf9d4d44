package understudy.cluster;

import it.unimi.dsi.fastutil.ints.IntList;
import java.util.Objects;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.StashBuffer;
import org.jspecify.annotations.Nullable;
import understudy.cluster.orders.OrderAnswers;
import understudy.engine.Request;
import understudy.faults.CrashRetries;
import understudy.faults.ReplicaOrder;
import understudy.faults.RequestFault;
import understudy.kvcache.connector.RemoteKv;
import understudy.report.ReplicaCounters;
import understudy.report.RunRecord;
import understudy.runtime.Clock;

/**
 * Replica of the engine: decides in every step which requests run. Memory belongs to its {@link KvBlockManager}, time
 * to its {@link VirtualGpu}.
 *
 * <p>A step is planned by a zero-delay timer, after all messages of the instant have been handled.
 */
public final class Replica {
    /** Prefix of the names of replicas. */
    static final String NAME = "replica-";

    /** Messages of a replica. */
    public sealed interface Command
            permits AddRequest,
                    Abort,
                    Crash,
                    Leave,
                    GiveUpLost,
                    Order,
                    GetRecord,
                    Enqueue,
                    PlanStep,
                    CallEnded,
                    ReportLoad,
                    VirtualGpu.StepDone,
                    ForMemory,
                    KvTransfers.Over,
                    KvBlockManager.Answered,
                    KvBlockManager.KvArrived,
                    KvBlockManager.Audited {}

    /**
     * Request for this replica, and its fault here; see {@link Router.Submit}.
     *
     * @param isPinned whether no other replica may serve it
     * @param numRetries how often it was on a replica that has crashed
     * @param headStartNanos how much of the API's work on it was done before it was sent here, at least 0
     * @param kvHolder the replica of this cluster that holds the KV of its prompt, or null if none does
     */
    public record AddRequest(
            Request request,
            ActorRef<? super RequestEvent> replyTo,
            boolean isStreaming,
            boolean isPinned,
            int numRetries,
            RequestFault fault,
            long headStartNanos,
            @Nullable ActorRef<Command> kvHolder)
            implements Command {

        /** Submits a request with which all goes well. */
        public AddRequest(Request request, ActorRef<? super RequestEvent> replyTo, boolean isStreaming) {
            this(request, replyTo, isStreaming, false, 0, RequestFault.NONE, 0, null);
        }

        /** Returns the same with what is left of the request. */
        AddRequest with(Request rest) {
            return new AddRequest(rest, replyTo, isStreaming, isPinned, numRetries, fault, headStartNanos, null);
        }

        /** Returns whether another replica, here or in another process, holds the KV of the prompt. */
        boolean isKvElsewhere() {
            return kvHolder != null || remoteKv() != null;
        }

        private @Nullable RemoteKv remoteKv() {
            return request.kvTransfer() == null ? null : request.kvTransfer().remoteKv();
        }

        /** Returns what the memory has to know of the replica that holds the KV; there must be one. */
        RemoteReads.Expect expectation() {
            var transfer = Objects.requireNonNull(request.kvTransfer());
            return new RemoteReads.Expect(request.id(), kvHolder, remoteKv(), transfer.prefillNanos());
        }

        /** Returns whether another replica may serve the request after a crash, when it has so many tokens. */
        boolean mayRetry(CrashRetries retries, int numTokens) {
            return !isPinned && retries.isAllowed(numRetries, numTokens);
        }
    }

    /** Aborts a request, if it is here; its sender is told of its end. */
    public record Abort(long requestId) implements Command {}

    /** Carries out an order, as soon as no step is being planned; answered by {@link OrderAnswers.Done}. */
    public record Order(ReplicaOrder order, ActorRef<? super OrderAnswers.Done> replyTo) implements Command {}

    /**
     * The process dies, and with it its memory; the actor hands over with {@link Gone}, and stops.
     *
     * @param retries which requests go back to the router; all others fail
     */
    public record Crash(CrashRetries retries) implements Command {}

    /**
     * Shuts the replica down, as no more requests will come: it finishes those it has, hands over with {@link Gone},
     * and stops.
     */
    public enum Leave implements Command {
        NOW
    }

    /** Fails the requests that the engine has forgotten; see {@link understudy.engine.Engine#lost}. */
    enum GiveUpLost implements Command {
        NOW
    }

    /** The replica has stopped; its successor goes on with what it has counted. */
    public record Gone(RunRecord.ReplicaRecord value) implements Cluster.Command {
        int replicaIndex() {
            return value.stats().replicaIndex();
        }
    }

    /** Recounts, and hands over the replica's record of the run, which is over. */
    public record GetRecord(ActorRef<? super Recorded> replyTo) implements Command {}

    /** The answer to {@link GetRecord}; the free blocks stand in the order in which they would be given out. */
    public record Recorded(int replicaIndex, RunRecord.ReplicaRecord value, IntList freeBlocks)
            implements Cluster.Command {}

    /** A word to the memory of this replica, from another one's or from outside. */
    record ForMemory(KvBlockManager.Command command) implements Command {}

    record Enqueue(Request request) implements Command {}

    enum PlanStep implements Command {
        NOW
    }

    /** The call that the engine waits for is over. */
    enum CallEnded implements Command {
        NOW
    }

    enum ReportLoad implements Command {
        NOW
    }

    private Replica() {}

    /** Returns the index of the replica of an actor. */
    static int indexOf(String actorName) {
        return Integer.parseInt(actorName.substring(NAME.length()).split("-", -1)[0]);
    }

    /** Creates an idle replica with its memory and its device; if one of them fails, so does the replica. */
    public static Behavior<Command> create(Clock clock, int replicaIndex, ReplicaSpec spec, ReplicaPeers peers) {
        return create(clock, new ReplicaCounters(replicaIndex, spec.traits().group()), spec, peers);
    }

    /** Creates the successor of a replica that has stopped, which goes on with its counts. */
    static Behavior<Command> create(
            Clock clock, RunRecord.ReplicaRecord predecessor, ReplicaSpec spec, ReplicaPeers peers) {
        return create(clock, new ReplicaCounters(predecessor), spec, peers);
    }

    private static Behavior<Command> create(
            Clock clock, ReplicaCounters counters, ReplicaSpec spec, ReplicaPeers peers) {
        return Behaviors.setup(context -> Behaviors.withTimers(timers -> Behaviors.withStash(
                DeferredCommands.CAPACITY,
                stash -> new RunningReplica(
                        context,
                        stash,
                        ReplicaParts.start(context, timers, clock, counters, spec, peers),
                        spec,
                        peers))));
    }

    /**
     * Commands that a replica must not carry out while it plans a step, and carries out right after it: the answers of the
     * memory come first.
     */
    static final class DeferredCommands {
        /** Limit above any number of requests in use; more is a defect. */
        static final int CAPACITY = 1 << 20;

        private final StashBuffer<Command> stash;

        DeferredCommands(StashBuffer<Command> stash) {
            this.stash = stash;
        }

        void add(Command command) {
            stash.stash(command);
        }

        /** Has {@code behavior} handle the deferred commands before any other message. */
        Behavior<Command> doneBy(Behavior<Command> behavior) {
            return stash.isEmpty() ? behavior : stash.unstashAll(behavior);
        }

        /**
         * Tells the router of all aborts once more, after the requests that a replica which has crashed has sent back to
         * it.
         */
        void passAbortsOn(ActorRef<Router.Command> router) {
            stash.forEach(command -> {
                if (command instanceof Abort abort) {
                    router.tell(new Router.Abort(abort.requestId()));
                }
            });
        }
    }

    /** Shutdown of a replica without requests: waits for the last answer of its memory, hands over, and stops. */
    static final class ReplicaShutdown {
        private final ReplicaCounters counters;
        private final ReplicaEvents events;
        private final @Nullable ActorRef<? super Replica.Gone> owner;

        private ReplicaShutdown(
                ReplicaCounters counters, ReplicaEvents events, @Nullable ActorRef<? super Replica.Gone> owner) {
            this.counters = counters;
            this.events = events;
            this.owner = owner;
        }

        /** Returns what a replica does from now on, once it has asked its memory for an audit. */
        static Behavior<Replica.Command> create(
                ReplicaCounters counters, ReplicaEvents events, @Nullable ActorRef<? super Replica.Gone> owner) {
            var lastWords = new ReplicaShutdown(counters, events, owner);
            return Behaviors.receive(Replica.Command.class)
                    .onMessage(KvBlockManager.Audited.class, lastWords::onAudited)
                    .onMessage(Replica.Order.class, lastWords::onOrder)
                    .onAnyMessage(late -> Behaviors.same())
                    .build();
        }

        /** Answers orders, so that the asker is not left waiting; a stopped replica has nothing that is to be changed. */
        private Behavior<Replica.Command> onOrder(Replica.Order order) {
            order.replyTo.tell(new OrderAnswers.Done(counters.replicaIndex(), true));
            return Behaviors.same();
        }

        private Behavior<Replica.Command> onAudited(KvBlockManager.Audited audited) {
            if (!audited.audit().isConserved()) {
                throw new IllegalStateException(
                        "block conservation: replica " + counters.replicaIndex() + " had " + audited.audit());
            }
            counters.onPeakKvUsage(audited.peakUsage());
            counters.onMemoryGone(audited.stats(), audited.traffic());
            events.gone();
            if (owner != null) {
                owner.tell(new Replica.Gone(counters.lastRecord()));
            }
            return Behaviors.stopped();
        }
    }
}
