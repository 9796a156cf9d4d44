package understudy.chaos.law;

import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import understudy.chaos.evidence.Evidence;
import understudy.chaos.evidence.ReplicaPhase;
import understudy.chaos.evidence.ReplicaPhase.State;

/**
 * States of one replica over time.
 *
 * @param replica name of the replica
 * @param phases in the order of time
 */
record ReplicaHistory(String replica, List<ReplicaPhase> phases) {
    /** What the probes of a replica tell a gateway to leave alone. */
    private static final Set<State> NOT_READY = EnumSet.of(State.DEAD, State.STARTING, State.DRAINING);

    /** States in which a replica serves well, whatever it tells of itself. */
    private static final Set<State> SERVES = EnumSet.of(State.UP, State.MISREPORTING);

    static ReplicaHistory of(String replica, Evidence evidence) {
        return new ReplicaHistory(
                replica,
                evidence.phases().stream()
                        .filter(phase -> phase.replica().equals(replica))
                        .sorted(Comparator.comparingLong(ReplicaPhase::fromNanos))
                        .toList());
    }

    /** Returns the state at a time; {@link State#UP} where no phase is known. */
    State stateAt(long nanos) {
        int index = indexAt(nanos);
        return index < 0 ? State.UP : phases.get(index).state();
    }

    /** Returns since when the replica has not been ready without a pause; -1 if it is ready at this time. */
    long notReadySince(long nanos) {
        int index = indexAt(nanos);
        if (index < 0 || !NOT_READY.contains(phases.get(index).state())) {
            return -1;
        }
        while (index > 0 && NOT_READY.contains(phases.get(index - 1).state())) {
            index--;
        }
        return phases.get(index).fromNanos();
    }

    /** Returns whether it serves well all the time from one time to another, both included. */
    boolean servesThrough(long fromNanos, long toNanos) {
        return phases.stream()
                .filter(phase -> phase.fromNanos() <= toNanos && phase.toNanos() > fromNanos)
                .allMatch(phase -> SERVES.contains(phase.state()));
    }

    /** Returns whether the replica had a fault or was not ready at any time from one to another. */
    boolean isDisturbedWithin(long fromNanos, long toNanos) {
        return phases.stream()
                .filter(phase -> phase.fromNanos() <= toNanos && phase.toNanos() > fromNanos)
                .anyMatch(phase -> phase.state() != State.UP);
    }

    /** Returns whether the last phase is not {@link State#UP}. */
    boolean endsDisturbed() {
        return !phases.isEmpty() && phases.get(phases.size() - 1).state() != State.UP;
    }

    /** Returns when the last phase ended that was not {@link State#UP}; -1 if none did. */
    long lastDisturbanceEndNanos() {
        return phases.stream()
                .filter(phase -> phase.state() != State.UP)
                .mapToLong(ReplicaPhase::toNanos)
                .max()
                .orElse(-1);
    }

    private int indexAt(long nanos) {
        for (int i = 0; i < phases.size(); i++) {
            if (phases.get(i).fromNanos() <= nanos && nanos < phases.get(i).toNanos()) {
                return i;
            }
        }
        return -1;
    }
}
