package understudy.routing;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Lanes of a router: the replicas that answer, and, if there are any, those that only compute prompts. Each has a view
 * and a policy of its own; a replica has the same index in both.
 */
public final class Lanes {
    private final Lane answering;
    private final @Nullable Lane prefilling;
    private final List<Lane> byReplica = new ArrayList<>();

    /** Replicas of one kind, and who chooses among them. */
    public record Lane(ClusterView view, RoutingPolicy policy) {

        /**
         * Returns the replica that has most of the prompt that was chosen for last, as far as the policy knows.
         *
         * @param chosen the replica that gets the request
         * @param minTokens how many tokens more than that it must have, above 0; 0 for none
         * @return its index, or {@code chosen} if none has so many more
         */
        public int kvSource(int chosen, int minTokens) {
            if (minTokens == 0) {
                return chosen;
            }
            int most = view.bestReady((a, b) -> policy.cachedTokens(b) - policy.cachedTokens(a));
            return policy.cachedTokens(most) - policy.cachedTokens(chosen) < minTokens ? chosen : most;
        }
    }

    public Lanes(Lane answering, @Nullable Lane prefilling) {
        this.answering = answering;
        this.prefilling = prefilling;
    }

    public Lane answering() {
        return answering;
    }

    public @Nullable Lane prefilling() {
        return prefilling;
    }

    /** Adds the next replica, which takes no requests yet. */
    public void add(ReplicaTraits traits) {
        var lane = prefilling == null || traits.role().answers() ? answering : prefilling;
        byReplica.add(lane);
        for (var each : prefilling == null ? List.of(answering) : List.of(answering, prefilling)) {
            each.view.setReady(each.view.addReplica(traits), false);
        }
    }

    /** Returns the lane that a replica is in. */
    public Lane of(int replica) {
        return byReplica.get(replica);
    }
}
