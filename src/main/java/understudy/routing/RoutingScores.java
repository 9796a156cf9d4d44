package understudy.routing;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.longs.LongImmutableList;
import it.unimi.dsi.fastutil.longs.LongList;
import java.util.List;
import java.util.function.IntToLongFunction;
import java.util.stream.IntStream;

/**
 * Reasons for a policy's choice of a replica, for people.
 *
 * @param rule which of the policy's rules decided, in a few words
 * @param parts what the rule looked at, and beside it, what decides most first
 */
public record RoutingScores(String rule, List<Part> parts) {

    /**
     * A figure of every replica.
     *
     * @param byReplica one value for each index, ready or not
     * @param isMoreBetter whether replicas with more of it are preferred, or those with less
     */
    public record Part(String name, LongList byReplica, boolean isMoreBetter) {

        /** Creates a part of which less is better. */
        public Part(String name, LongList byReplica) {
            this(name, byReplica, false);
        }

        /** Returns a negative number if one replica is better than another one in this. */
        private int compare(int replica, int other) {
            int difference = Long.compare(byReplica.getLong(replica), byReplica.getLong(other));
            return isMoreBetter ? -difference : difference;
        }
    }

    /** Returns some replicas with the best ones first: by the first part, then by the others, then by their indices. */
    public IntList ranked(IntList replicas) {
        var ranked = new IntArrayList(replicas);
        ranked.sort(this::compare);
        return ranked;
    }

    private int compare(int replica, int other) {
        for (var part : parts) {
            int order = part.compare(replica, other);
            if (order != 0) {
                return order;
            }
        }
        return Integer.compare(replica, other);
    }

    /** Returns the scores of a rule that looked at no more than the load. */
    public static RoutingScores ofLoad(String rule, ClusterView view) {
        return new RoutingScores(rule, List.of(outstanding(view)));
    }

    /** Returns how many requests each replica has that have not ended. */
    public static Part outstanding(ClusterView view) {
        return part("outstanding", view, false, view::outstanding);
    }

    /** Returns a figure of every replica. */
    public static Part part(String name, ClusterView view, boolean isMoreBetter, IntToLongFunction value) {
        var values = IntStream.range(0, view.numReplicas()).mapToLong(value).toArray();
        return new Part(name, new LongImmutableList(values), isMoreBetter);
    }
}
