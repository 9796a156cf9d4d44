package understudy.faults;

import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/** Fault of a cluster. Replicas count from 0. */
public sealed interface Fault extends ClusterChange {
    /** In place of a replica's index: all of them, those that join later included. */
    OptionalInt ALL_REPLICAS = OptionalInt.empty();

    /** Fault of one running replica; a restart ends it. */
    sealed interface OfReplica extends Fault, ReplicaOrder.Change {}

    /** Fault of requests on their way into the cluster, or to one replica; a restart of that replica ends it. */
    sealed interface OfRequests extends Fault {

        /** Returns the replica, or {@link #ALL_REPLICAS}. */
        OptionalInt replica();

        /** Lets it take effect for the requests of a die. */
        void on(RequestDie requests);

        @Override
        default void applyTo(Target cluster) {
            cluster.setFault(this);
        }
    }

    /** The process dies, and its memory with it. */
    record Crash(int replica) implements Fault, OfState {
        @Override
        public @Nullable ReplicaState next(ReplicaState state) {
            return state.isUp() || state == ReplicaState.STARTING ? ReplicaState.DOWN : null;
        }

        @Override
        public void applyTo(Target cluster) {
            cluster.crash(replica);
        }

        @Override
        public Optional<ClusterChange> undo() {
            return Optional.of(new FleetChange.Restart(replica));
        }
    }

    /** Steps that begin from now on take {@code factor} times as long; above 0. */
    record SlowGpu(int replica, double factor) implements OfReplica {
        @Override
        public void on(ReplicaActions actions) {
            actions.slowDown(factor);
        }

        @Override
        public Turn turn() {
            return Turn.AT_ONCE;
        }

        @Override
        public Optional<ClusterChange> undo() {
            return Optional.of(new SlowGpu(replica, 1));
        }
    }

    /**
     * The KV cache has fewer blocks, at least 2, the null block included; blocks in use go when they are released.
     * Never more than the replica was built with.
     */
    record ShrinkKv(int replica, int numGpuBlocks) implements OfReplica {
        @Override
        public void on(ReplicaActions actions) {
            actions.resizeKv(numGpuBlocks);
        }

        @Override
        public Optional<ClusterChange> undo() {
            return Optional.of(new ShrinkKv(replica, Integer.MAX_VALUE));
        }
    }

    /** Each request fails with this probability, 0 to 1, and this status; see {@link RequestFault#STATUSES}. */
    record ErrorRate(OptionalInt replica, double rate, int status) implements OfRequests {
        /** Creates a fault with the status 500. */
        public ErrorRate(OptionalInt replica, double rate) {
            this(replica, rate, RequestFault.DEFAULT_STATUS);
        }

        @Override
        public void on(RequestDie requests) {
            requests.failAtRate(rate, status);
        }

        @Override
        public Optional<ClusterChange> undo() {
            return Optional.of(new ErrorRate(replica, 0, status));
        }
    }

    /** The next {@code count} requests fail, with this status, and the ones after them do not. */
    record ErrorSequence(OptionalInt replica, int count, int status) implements OfRequests {
        /** Creates a fault with the status 500. */
        public ErrorSequence(OptionalInt replica, int count) {
            this(replica, count, RequestFault.DEFAULT_STATUS);
        }

        @Override
        public void on(RequestDie requests) {
            requests.failNext(count, status);
        }

        @Override
        public Optional<ClusterChange> undo() {
            return Optional.of(new ErrorSequence(replica, 0, status));
        }
    }

    /**
     * Each answer breaks off after so many tokens, at least 1, with this probability, 0 to 1. Its connection is closed
     * behind them, as when a process dies, or reset.
     */
    record CutStreams(OptionalInt replica, double rate, int afterTokens, boolean isReset) implements OfRequests {
        /** Creates a fault that closes connections. */
        public CutStreams(OptionalInt replica, double rate, int afterTokens) {
            this(replica, rate, afterTokens, false);
        }

        @Override
        public void on(RequestDie requests) {
            requests.cutAtRate(rate, afterTokens, isReset);
        }

        @Override
        public Optional<ClusterChange> undo() {
            return Optional.of(new CutStreams(replica, 0, afterTokens, isReset));
        }
    }

    /**
     * Each streamed answer has, with this probability, 0 to 1, one event of broken JSON: the one with this output
     * token, which counts from 1. Nothing else is wrong with the stream, which goes on behind it. Only the HTTP edge can
     * break it, and only its clients can tell. A restart of the replica ends it.
     *
     * @param replica the one whose answers they are, or {@link #ALL_REPLICAS}
     */
    record MalformStreams(OptionalInt replica, double rate, int atToken) implements Fault {
        @Override
        public void applyTo(Target cluster) {
            cluster.setFault(this);
        }

        @Override
        public Optional<ClusterChange> undo() {
            return Optional.of(new MalformStreams(replica, 0, atToken));
        }
    }

    /** Each request reaches the waiting queue this much later. */
    record LatencySpike(OptionalInt replica, long delayNanos) implements OfRequests {
        @Override
        public void on(RequestDie requests) {
            requests.delayBy(delayNanos);
        }

        @Override
        public Optional<ClusterChange> undo() {
            return Optional.of(new LatencySpike(replica, 0));
        }
    }

    /** Kind of link that carries KV. */
    enum LinkKind {
        /** Between replicas. */
        NETWORK,
        /** Between the GPUs of a replica and host memory. */
        HOST
    }

    /** Fault of a link over which KV is moved. */
    sealed interface OfLinks extends Fault, ReplicaOrder {

        /** Returns the replica at its end, or {@link #ALL_REPLICAS}: those that are there now. */
        OptionalInt replica();

        LinkKind link();

        @Override
        default void applyTo(Target cluster) {
            cluster.setFault(this);
        }

        @Override
        default void on(ReplicaActions replica) {
            replica.setHostLink(this);
        }

        @Override
        default Turn turn() {
            return Turn.AT_ONCE;
        }
    }

    /** A replica's end of a link has {@code factor} of its bandwidth, 0 to 1: 0 if it is broken. */
    record SlowLink(OptionalInt replica, LinkKind link, double factor) implements OfLinks {
        @Override
        public Optional<ClusterChange> undo() {
            return Optional.of(new SlowLink(replica, link, 1));
        }
    }

    /** Each transfer that starts from now on fails with this probability, 0 to 1; the network's fail for all replicas. */
    record FailTransfers(OptionalInt replica, LinkKind link, double rate) implements OfLinks {
        @Override
        public Optional<ClusterChange> undo() {
            return Optional.of(new FailTransfers(replica, link, 0));
        }
    }

    /** A replica's host memory loses this share of the chunks that are not being moved, 0 to 1. */
    record LoseKv(int replica, double share) implements OfReplica {
        @Override
        public void on(ReplicaActions actions) {
            actions.loseHostKv(share);
        }

        @Override
        public Turn turn() {
            return Turn.AT_ONCE;
        }
    }
}
