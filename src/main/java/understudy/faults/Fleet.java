package understudy.faults;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The states of all replicas, and what may be done to them. */
public final class Fleet {
    private final List<ReplicaState> states = new ArrayList<>();

    /** Creates a fleet of replicas that are all ready. */
    public Fleet(int numReplicas) {
        for (int i = 0; i < numReplicas; i++) {
            states.add(ReplicaState.READY);
        }
    }

    public int size() {
        return states.size();
    }

    public ReplicaState state(int replica) {
        return states.get(replica);
    }

    /** Returns a copy of all states, by index. */
    public List<ReplicaState> states() {
        return List.copyOf(states);
    }

    /** Returns why a fault cannot happen now, or empty if it can. */
    public Optional<String> refusal(Fault fault) {
        if (fault instanceof Fault.OfFleet change) {
            return refusal(change.replica(), next(change) != null, fault);
        }
        if (fault instanceof Fault.OfReplica change) {
            return refusal(change.replica(), isKnown(change.replica()) && isRunning(change.replica()), fault);
        }
        if (fault instanceof Fault.OfRequests change && change.replica() != Fault.ALL_REPLICAS) {
            return refusal(change.replica(), isKnown(change.replica()) && isRunning(change.replica()), fault);
        }
        return Optional.empty();
    }

    /** Applies a fault that was not refused, as far as it changes states. */
    public void apply(Fault fault) {
        if (fault instanceof Fault.Add) {
            states.add(ReplicaState.STARTING);
        } else if (fault instanceof Fault.OfFleet change) {
            var next = next(change);
            if (next == null) {
                throw new IllegalArgumentException(fault + " in the states " + states);
            }
            states.set(change.replica(), next);
        }
    }

    /** Takes note that a starting replica has started. */
    public void onStarted(int replica) {
        states.set(replica, ReplicaState.READY);
    }

    private Optional<String> refusal(int replica, boolean isAllowed, Fault fault) {
        if (isAllowed) {
            return Optional.empty();
        }
        if (!isKnown(replica)) {
            return Optional.of("there is no replica " + replica + ", only 0 to " + (states.size() - 1));
        }
        String what = fault.getClass().getSimpleName();
        return Optional.of(what + ": replica " + replica + " is " + states.get(replica));
    }

    private boolean isKnown(int replica) {
        return replica >= 0 && replica < states.size();
    }

    private boolean isRunning(int replica) {
        return states.get(replica).isUp();
    }

    private @Nullable ReplicaState next(Fault.OfFleet change) {
        if (!isKnown(change.replica())) {
            return null;
        }
        var state = states.get(change.replica());
        if (change instanceof Fault.Crash) {
            boolean isUp = isRunning(change.replica()) || state == ReplicaState.STARTING;
            return isUp ? ReplicaState.DOWN : null;
        } else if (change instanceof Fault.Restart) {
            return state == ReplicaState.DOWN ? ReplicaState.STARTING : null;
        } else if (change instanceof Fault.Drain) {
            return state == ReplicaState.READY ? ReplicaState.DRAINING : null;
        } else if (change instanceof Fault.Resume) {
            return state == ReplicaState.DRAINING ? ReplicaState.READY : null;
        }
        return state == ReplicaState.REMOVED ? null : ReplicaState.REMOVED;
    }
}
