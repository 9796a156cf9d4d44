package understudy.faults;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.PriorityQueue;
import understudy.workload.RandomStreams;

/**
 * Plan of faults and their times, and the cluster's reaction to them. Immutable; the same plan and seed give the same
 * run.
 *
 * @param changes faults and operations, in order of time
 * @param retries which requests of a crashed replica go on at another one
 * @param startupNanos from the start of a replica to its first request, at least 0
 * @param streams source of its random numbers
 */
public record FaultPlan(List<TimedChange> changes, CrashRetries retries, long startupNanos, RandomStreams streams) {
    /** No planned faults; crashes fail requests, and starts take no time. */
    public static final FaultPlan NONE = new FaultPlan(List.of(), CrashRetries.NONE, 0, new RandomStreams(0));

    /** A change and the virtual time at which it happens. */
    public record TimedChange(long atNanos, ClusterChange change) {}

    /** Sorts the changes by time; those of one instant keep their order. */
    public FaultPlan {
        var sorted = new ArrayList<>(changes);
        sorted.sort(Comparator.comparingLong(TimedChange::atNanos));
        changes = List.copyOf(sorted);
    }

    /** Returns why the plan cannot be carried out on so many replicas, or empty if it can. */
    public Optional<String> refusal(int numReplicas) {
        var fleet = new ReplicaStates(numReplicas);
        var starts = new PriorityQueue<>(Comparator.comparingLong(Start::readyNanos));
        for (var timed : changes) {
            while (!starts.isEmpty() && starts.element().readyNanos <= timed.atNanos) {
                int started = starts.remove().replica;
                if (fleet.state(started) == ReplicaState.STARTING) {
                    fleet.onStarted(started);
                }
            }
            var refusal = fleet.refusal(timed.change);
            if (refusal.isPresent()) {
                return Optional.of("at " + timed.atNanos / 1e9 + " s: " + refusal.get());
            }
            fleet.apply(timed.change);
            if (timed.change instanceof FleetChange.Restart restart) {
                starts.add(new Start(timed.atNanos + startupNanos, restart.replica()));
            } else if (timed.change instanceof FleetChange.Add) {
                starts.add(new Start(timed.atNanos + startupNanos, fleet.size() - 1));
            }
        }
        return Optional.empty();
    }

    private record Start(long readyNanos, int replica) {}
}
