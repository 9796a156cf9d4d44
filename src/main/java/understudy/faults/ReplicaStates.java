package understudy.faults;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/** States of all replicas, and the changes that they allow. */
public final class ReplicaStates {
    private final List<ReplicaState> states = new ArrayList<>();

    /** Creates a fleet of replicas that are all ready. */
    public ReplicaStates(int numReplicas) {
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

    /** Returns why a change cannot happen now, or empty if it can. */
    public Optional<String> refusal(ClusterChange change) {
        if (change instanceof ClusterChange.OfState ofState) {
            return refusal(ofState.replica(), next(ofState) != null, change);
        }
        if (change instanceof Fault.OfReplica ofReplica) {
            return refusal(ofReplica.replica(), isRunning(ofReplica.replica()), change);
        }
        var replica = ofSome(change);
        return replica.isEmpty()
                ? Optional.empty()
                : refusal(replica.getAsInt(), isRunning(replica.getAsInt()), change);
    }

    /** Returns the replica of a fault that may as well be one of all. */
    private static OptionalInt ofSome(ClusterChange change) {
        if (change instanceof Fault.OfRequests ofRequests) {
            return ofRequests.replica();
        }
        if (change instanceof Fault.MalformStreams ofStreams) {
            return ofStreams.replica();
        }
        return change instanceof Fault.OfLinks ofLinks ? ofLinks.replica() : Fault.ALL_REPLICAS;
    }

    /** Applies a change that was not refused, as far as it changes states. */
    public void apply(ClusterChange change) {
        if (change instanceof FleetChange.Add) {
            states.add(ReplicaState.STARTING);
        } else if (change instanceof ClusterChange.OfState ofState) {
            var next = next(ofState);
            if (next == null) {
                throw new IllegalArgumentException(change + " in the states " + states);
            }
            states.set(ofState.replica(), next);
        }
    }

    /** Records that a starting replica has started. */
    public void onStarted(int replica) {
        states.set(replica, ReplicaState.READY);
    }

    private Optional<String> refusal(int replica, boolean isAllowed, ClusterChange change) {
        if (isAllowed) {
            return Optional.empty();
        }
        if (!isKnown(replica)) {
            return Optional.of("there is no replica " + replica + ", only 0 to " + (states.size() - 1));
        }
        String what = change.getClass().getSimpleName();
        return Optional.of(what + ": replica " + replica + " is " + states.get(replica));
    }

    private boolean isKnown(int replica) {
        return replica >= 0 && replica < states.size();
    }

    private boolean isRunning(int replica) {
        return isKnown(replica) && states.get(replica).isUp();
    }

    private @Nullable ReplicaState next(ClusterChange.OfState change) {
        return isKnown(change.replica()) ? change.next(states.get(change.replica())) : null;
    }
}
