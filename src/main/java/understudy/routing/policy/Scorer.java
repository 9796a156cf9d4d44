package understudy.routing.policy;

import it.unimi.dsi.fastutil.ints.IntList;
import java.util.function.IntToDoubleFunction;
import java.util.function.IntToLongFunction;
import understudy.engine.Request;
import understudy.routing.ClusterView;
import understudy.routing.LoadReport;

/** Scorer of replicas for a request; {@link Scorers} has them, and {@link WeightedScorers} adds them up. */
@FunctionalInterface
interface Scorer {

    /** Returns a score from 0 to 1 for each candidate, at its index. */
    double[] score(Cycle cycle);

    /** Records that the request of the cycle that was scored last goes to a replica. */
    default void onChosen(Cycle cycle, int replica) {}

    /**
     * Cycle of scoring: one request, and the views on its cached prefix.
     *
     * @param candidates replicas that the filter has left, at least one
     * @param precise cached blocks of the prompt according to KV events; nothing if no scorer asks for it
     * @param assumed the same according to what was sent
     * @param hits the better one of the two that are asked for
     */
    record Cycle(
            Request request,
            ClusterView view,
            IntList candidates,
            CachedPrefixes precise,
            CachedPrefixes assumed,
            CachedPrefixes hits) {

        LoadReport report(int replica) {
            return view.report(replica);
        }

        double[] each(IntToDoubleFunction score) {
            var scores = new double[view.numReplicas()];
            candidates.forEach(i -> scores[i] = score.applyAsDouble(i));
            return scores;
        }

        /** Returns scores from 1 for the smallest count to 0 for the largest; 1 for each if all are equal. */
        double[] fewestFirst(IntToLongFunction count) {
            var range = candidates.intStream().mapToLong(count).summaryStatistics();
            double width = range.getMax() - range.getMin();
            return each(i -> width == 0 ? 1 : (range.getMax() - count.applyAsLong(i)) / width);
        }
    }
}
