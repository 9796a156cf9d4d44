package understudy.routing;

import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongImmutableList;
import it.unimi.dsi.fastutil.longs.LongList;
import java.util.List;

/**
 * Why a policy chose a replica, for people.
 *
 * @param rule which of the policy's rules decided, in a few words
 * @param parts what the rule looked at
 */
public record RoutingScores(String rule, List<Part> parts) {

    /**
     * A figure of every replica.
     *
     * @param byReplica one value for each index, ready or not
     */
    public record Part(String name, LongList byReplica) {}

    /** Returns the scores of a rule that looked at no more than the load. */
    static RoutingScores ofLoad(String rule, ClusterView view) {
        return new RoutingScores(rule, List.of(outstanding(view)));
    }

    /** Returns how many requests each replica has that have not ended. */
    static Part outstanding(ClusterView view) {
        var values = new LongArrayList(view.numReplicas());
        for (int i = 0; i < view.numReplicas(); i++) {
            values.add(view.outstanding(i));
        }
        return new Part("outstanding", new LongImmutableList(values));
    }
}
