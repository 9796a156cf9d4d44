package understudy.cluster;

import java.util.Objects;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.jspecify.annotations.Nullable;
import understudy.engine.RankRules;
import understudy.engine.Request;
import understudy.faults.CrashRetries;
import understudy.faults.ReplicaOrder;
import understudy.faults.RequestFault;
import understudy.kvcache.connector.RemoteKv;
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
    public static final String NAME = "replica-";

    /** Messages of a replica. */
    public sealed interface Command
            permits AddRequest,
                    Abort,
                    Withdraw,
                    Crash,
                    Leave,
                    GiveUpLost,
                    Order,
                    GetRecord,
                    Enqueue,
                    PlanStep,
                    TakeTurn,
                    CallEnded,
                    ReportLoad,
                    VirtualGpu.StepDone,
                    ForMemory,
                    KvExchange.Over,
                    KvBlockManager.Answered,
                    KvBlockManager.KvArrived,
                    KvBlockManager.Audited {}

    /**
     * Request for this replica, and its fault here; see {@link Router.Submit}.
     *
     * @param isPinned whether no other replica may serve it
     * @param numRetries how often it was on a replica that has crashed
     * @param headStartNanos how much of the API's work on it was done before it was sent here, at least 0
     * @param kvHolder the replica of this cluster that holds the KV of its prompt, or null if none does; if KV is pushed,
     *     the one at the other end, in both directions
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

        /** Returns the same message with the rest of the request. */
        public AddRequest with(Request rest) {
            return new AddRequest(rest, replyTo, isStreaming, isPinned, numRetries, fault, headStartNanos, null);
        }

        /** Returns whether another replica has the request at the same time, and counts it. */
        public boolean isCountedElsewhere() {
            return kvHolder != null && request.isPrefillLeg();
        }

        /** Returns whether another replica, here or in another process, holds the KV of the prompt, or is to get it. */
        public boolean isKvElsewhere() {
            return kvHolder != null || remoteKv() != null;
        }

        private @Nullable RemoteKv remoteKv() {
            return request.kvTransfer() == null ? null : request.kvTransfer().remoteKv();
        }

        /** Returns the message for the memory about the replica that holds the KV; there must be one. */
        public KvExchange.Expect expectation() {
            var transfer = Objects.requireNonNull(request.kvTransfer());
            return new KvExchange.Expect(request.id(), kvHolder, remoteKv(), transfer.prefillNanos());
        }

        /** Returns whether another replica may serve the request after a crash, when it has so many tokens. */
        public boolean mayRetry(CrashRetries retries, int numTokens) {
            return !isPinned && retries.isAllowed(numRetries, numTokens);
        }
    }

    /** Aborts a request, if it is here; its sender is told of its end. */
    public record Abort(long requestId) implements Command {}

    /**
     * Sends a request back to the router by {@link Router.Reroute}, if it is here and has no token: the replica that was to
     * compute its prompt is gone.
     */
    public record Withdraw(long requestId) implements Command {}

    /** Carries out an order, as soon as no step is being planned; answered by {@link Done}. */
    public record Order(ReplicaOrder order, ActorRef<? super Done> replyTo) implements Command {}

    /** The answer to {@link Order}: whether the replica has done what it was told. */
    public record Done(int replicaIndex, boolean isDone) {}

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
    public enum GiveUpLost implements Command {
        NOW
    }

    /** The replica has stopped; its successor goes on with its counts. */
    public record Gone(RunRecord.ReplicaRecord value) implements Cluster.Command {
        /** Returns the index of the replica. */
        public int replicaIndex() {
            return value.stats().replicaIndex();
        }
    }

    /** Recounts, and hands over the replica's record of the run, which is over. */
    public record GetRecord(ActorRef<? super Recorded> replyTo) implements Command {}

    /** The answer to {@link GetRecord}. */
    public record Recorded(int replicaIndex, RunRecord.ReplicaRecord value) implements Cluster.Command {}

    /** An engine has died of its KV memory, as the real one does, which ends the run. */
    public record EngineDied(int replicaIndex, String words) implements Cluster.Command {}

    /** A word to the memory of this replica, from another one's or from outside. */
    public record ForMemory(KvBlockManager.Command command) implements Command {}

    public record Enqueue(Request request) implements Command {}

    public enum PlanStep implements Command {
        NOW
    }

    /** Plans a turn, if there is something to plan still, as the ranks of its data-parallel group have agreed. */
    public record TakeTurn(RankRules.Turn turn) implements Command {}

    /** The call that the engine waits for is over. */
    public enum CallEnded implements Command {
        NOW
    }

    public enum ReportLoad implements Command {
        NOW
    }

    /** Makes the actor of a replica. */
    @FunctionalInterface
    public interface Factory {

        /**
         * Returns an idle replica with its memory and its device; if one of them fails, so does the replica.
         *
         * @param predecessor the record of those that had its index before, whose counts it goes on with
         */
        Behavior<Command> create(
                Clock clock, RunRecord.ReplicaRecord predecessor, ReplicaSpec spec, ReplicaPeers peers);
    }

    private Replica() {}

    /** Returns the index of the replica of an actor. */
    public static int indexOf(String actorName) {
        return Integer.parseInt(actorName.substring(NAME.length()).split("-", -1)[0]);
    }
}
