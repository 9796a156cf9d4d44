package understudy.faults;

import java.util.Optional;

/** Something that goes wrong with a cluster, or that its operator does to it. Replicas count from 0. */
public sealed interface Fault {
    /** In place of a replica's index: all of them, those that join later included. */
    int ALL_REPLICAS = -1;

    /** Returns what ends it, or empty if it has no duration. */
    default Optional<Fault> undo() {
        return Optional.empty();
    }

    /** What changes the state of one replica. */
    sealed interface OfFleet extends Fault {

        int replica();
    }

    /** What changes how one running replica works; a restart ends it. */
    sealed interface OfReplica extends Fault {

        int replica();
    }

    /** What happens to requests on their way into the cluster, or to one replica; a restart of that one ends it. */
    sealed interface OfRequests extends Fault {

        int replica();
    }

    /** One more replica starts, with the next index. */
    record Add() implements Fault {}

    /** The process dies, and its memory with it. */
    record Crash(int replica) implements OfFleet {
        @Override
        public Optional<Fault> undo() {
            return Optional.of(new Restart(replica));
        }
    }

    /** A crashed replica starts again, with an empty cache. */
    record Restart(int replica) implements OfFleet {}

    /** No more requests are sent there; those that are there are finished. */
    record Drain(int replica) implements OfFleet {
        @Override
        public Optional<Fault> undo() {
            return Optional.of(new Resume(replica));
        }
    }

    /** A draining replica gets requests again. */
    record Resume(int replica) implements OfFleet {}

    /** The replica leaves for good, after its requests. */
    record Remove(int replica) implements OfFleet {}

    /** Steps that begin from now on take {@code factor} times as long; above 0. */
    record SlowGpu(int replica, double factor) implements OfReplica {
        @Override
        public Optional<Fault> undo() {
            return Optional.of(new SlowGpu(replica, 1));
        }
    }

    /**
     * The KV cache has fewer blocks, at least 2, the null block included; blocks in use go when they are released. Never more
     * than the replica was built with.
     */
    record ShrinkKv(int replica, int numGpuBlocks) implements OfReplica {
        @Override
        public Optional<Fault> undo() {
            return Optional.of(new ShrinkKv(replica, Integer.MAX_VALUE));
        }
    }

    /** Each request fails with this probability, 0 to 1. */
    record ErrorRate(int replica, double rate) implements OfRequests {
        @Override
        public Optional<Fault> undo() {
            return Optional.of(new ErrorRate(replica, 0));
        }
    }

    /** The next {@code count} requests fail, and the ones after them do not. */
    record ErrorSequence(int replica, int count) implements OfRequests {
        @Override
        public Optional<Fault> undo() {
            return Optional.of(new ErrorSequence(replica, 0));
        }
    }

    /** Each answer breaks off after so many tokens, at least 1, with this probability, 0 to 1. */
    record CutStreams(int replica, double rate, int afterTokens) implements OfRequests {
        @Override
        public Optional<Fault> undo() {
            return Optional.of(new CutStreams(replica, 0, afterTokens));
        }
    }

    /**
     * Each streamed answer has, with this probability, 0 to 1, one event of broken JSON: the one with this output token, which
     * counts from 1. Nothing else is wrong with the stream, which goes on behind it. Only a client over HTTP can tell.
     */
    record MalformStreams(int replica, double rate, int atToken) implements OfRequests {
        @Override
        public Optional<Fault> undo() {
            return Optional.of(new MalformStreams(replica, 0, atToken));
        }
    }

    /** Each request reaches the waiting queue this much later. */
    record LatencySpike(int replica, long delayNanos) implements OfRequests {
        @Override
        public Optional<Fault> undo() {
            return Optional.of(new LatencySpike(replica, 0));
        }
    }
}
