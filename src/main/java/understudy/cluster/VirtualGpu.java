package understudy.cluster;

import it.unimi.dsi.fastutil.ints.IntList;
import java.util.Optional;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.jspecify.annotations.Nullable;
import understudy.cluster.lockstep.DataParallelGroup;
import understudy.cluster.lockstep.DataParallelSpec;
import understudy.engine.speculation.DraftOutput;
import understudy.latency.BatchShape;
import understudy.runtime.Clock;

/**
 * One GPU, or a group of GPUs that work as one: runs one step at a time, and takes as long as its latency model says.
 * One more step may wait behind the running one.
 *
 * <p>Messages are told apart by type tests: it handles one in every step.
 */
public final class VirtualGpu {

    /** Messages of the device. */
    public sealed interface Command {}

    /**
     * Runs one step; replies when the virtual hardware has finished it.
     *
     * @param numDrafts drafts to verify of each scheduled request; empty without speculation
     * @param isPrefill whether it is a prefill, for an engine whose steps are either that or not
     */
    public record ExecuteStep(
            BatchShape batch, IntList numDrafts, boolean isPrefill, ActorRef<? super StepDone> replyTo)
            implements Command {

        /** Runs a step without drafts. */
        public ExecuteStep(BatchShape batch, ActorRef<? super StepDone> replyTo) {
            this(batch, IntList.of(), false, replyTo);
        }
    }

    /** Steps that begin from now on take {@code factor} times as long as the model says; above 0, at first 1. */
    public record SetSlowdown(double factor) implements Command {}

    /** Steps that begin from now on take {@code nanos} longer than that; at first 0. */
    public record SetDelay(long nanos) implements Command {}

    /**
     * A step ran from {@code startNanos} to {@code endNanos}. Steps finish in the order in which they were sent.
     *
     * @param drafts result of its drafts
     * @param groupStep which step of the replica's data-parallel group it was, from 0; -1 if the replica steps alone
     */
    public record StepDone(long startNanos, long endNanos, DraftOutput drafts, long groupStep)
            implements Replica.Command {
        private static final long NO_GROUP = -1;

        /** A step without drafts ran. */
        public StepDone(long startNanos, long endNanos) {
            this(startNanos, endNanos, DraftOutput.NONE);
        }

        /** A step of a replica ran that steps alone. */
        public StepDone(long startNanos, long endNanos, DraftOutput drafts) {
            this(startNanos, endNanos, drafts, NO_GROUP);
        }
    }

    /** A step of the replica's data-parallel group ran. */
    public record GroupRan(DataParallelGroup.Ran step) implements Command {}

    /** Makes the device of a replica. A value: it makes any number of them. */
    @FunctionalInterface
    public interface Factory {

        /**
         * Returns an idle device.
         *
         * @param group the data-parallel group that the replica steps with; null if it steps alone
         */
        Behavior<Command> create(Clock clock, int replicaIndex, @Nullable ActorRef<DataParallelGroup.Command> group);

        /** Returns the group that each replica is to be part of; empty if it steps alone. */
        default Optional<DataParallelSpec> dataParallel() {
            return Optional.empty();
        }
    }

    private VirtualGpu() {}
}
