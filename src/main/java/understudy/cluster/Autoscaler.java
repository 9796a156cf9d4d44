package understudy.cluster;

import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import understudy.runtime.Clock;
import understudy.scaling.ScalingSpec;

/**
 * Autoscaler of a cluster: receives its events, asks a rule at fixed intervals how many replicas there should be,
 * and has the guardian start or remove some.
 */
public final class Autoscaler {

    /** Messages of the autoscaler. */
    public sealed interface Command {}

    /** Something has happened in the cluster. */
    public record Happened(ClusterEvent event) implements Command {}

    public enum Evaluate implements Command {
        NOW
    }

    /** Makes the autoscaler of a cluster. */
    @FunctionalInterface
    public interface Factory {

        /**
         * Returns the autoscaler of a cluster that begins with so many replicas; it is told the cluster's events.
         *
         * @param spec must have a rule
         */
        Behavior<ClusterEvent> create(
                Clock clock, ScalingSpec spec, int numReplicas, ActorRef<Cluster.Command> cluster);
    }

    private Autoscaler() {}
}
