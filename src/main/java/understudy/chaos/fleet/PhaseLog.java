package understudy.chaos.fleet;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import understudy.chaos.evidence.ReplicaPhase;
import understudy.chaos.evidence.ReplicaPhase.State;

/** States of the replicas over a scenario. A replica shows what the last fault says that has not ended. */
final class PhaseLog {
    private final Map<String, List<ReplicaPhase>> phases = new LinkedHashMap<>();

    /** Faults of each replica that have not ended, by their names, in the order in which they began. */
    private final Map<String, Map<String, State>> active = new LinkedHashMap<>();

    PhaseLog(List<String> replicas) {
        for (String replica : replicas) {
            active.put(replica, new LinkedHashMap<>());
            phases.put(replica, new ArrayList<>(List.of(new ReplicaPhase(replica, State.UP, "", 0, Long.MAX_VALUE))));
        }
    }

    /** Records a fault that has begun; one that leaves the replica as it was is none here. */
    void begin(String replica, String fault, State state, long nowNanos) {
        if (state == State.UP) {
            return;
        }
        var faults = faultsOf(replica);
        faults.remove(fault);
        faults.put(fault, state);
        show(replica, nowNanos);
    }

    void end(String replica, String fault, long nowNanos) {
        faultsOf(replica).remove(fault);
        show(replica, nowNanos);
    }

    private void show(String replica, long nowNanos) {
        String fault = "";
        var state = State.UP;
        for (var entry : faultsOf(replica).entrySet()) {
            fault = entry.getKey();
            state = entry.getValue();
        }
        var all = Objects.requireNonNull(phases.get(replica));
        var last = all.remove(all.size() - 1);
        if (nowNanos > last.fromNanos()) {
            all.add(new ReplicaPhase(replica, last.state(), last.fault(), last.fromNanos(), nowNanos));
        }
        all.add(new ReplicaPhase(replica, state, fault, nowNanos, Long.MAX_VALUE));
    }

    private Map<String, State> faultsOf(String replica) {
        return Objects.requireNonNull(active.get(replica));
    }

    /** Returns the phases of all replicas up to the scenario's end. */
    List<ReplicaPhase> until(long endNanos) {
        return phases.values().stream()
                .flatMap(List::stream)
                .filter(phase -> phase.fromNanos() < endNanos)
                .map(phase -> new ReplicaPhase(
                        phase.replica(),
                        phase.state(),
                        phase.fault(),
                        phase.fromNanos(),
                        Math.min(phase.toNanos(), endNanos)))
                .toList();
    }
}
