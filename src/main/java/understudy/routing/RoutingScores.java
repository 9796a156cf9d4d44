package understudy.routing;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.longs.LongImmutableList;
import it.unimi.dsi.fastutil.longs.LongList;
import java.util.List;
import java.util.function.IntPredicate;
import java.util.function.IntToLongFunction;
import java.util.stream.IntStream;

/**
 * Reasons for a policy's choice of a replica, for people.
 *
 * @param rule which of the policy's rules decided, in a few words
 * @param parts figures that the rule compared, and others for information; the decisive one first
 */
public record RoutingScores(String rule, List<Part> parts) {
    /** No reasons. */
    public static final RoutingScores NONE = new RoutingScores("", List.of());

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

        /** Returns a part with a figure for each replica. */
        public static Part of(String name, ClusterView view, IntToLongFunction figure, boolean isMoreBetter) {
            var replicas = IntStream.range(0, view.numReplicas());
            return new Part(name, LongImmutableList.toList(replicas.mapToLong(figure)), isMoreBetter);
        }

        /** Returns a part that is 1 for the replicas that are preferred, and 0 for the others. */
        public static Part ofThose(String name, ClusterView view, IntPredicate isPreferred) {
            return of(name, view, replica -> isPreferred.test(replica) ? 1 : 0, true);
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
        return Part.of("outstanding", view, view::outstanding, false);
    }

    /** Returns how many prompt tokens each replica has of those requests. */
    public static Part promptTokens(ClusterView view) {
        return Part.of("prompt tokens", view, view::promptTokens, false);
    }
}
