package understudy.routing.policy;

import it.unimi.dsi.fastutil.ints.IntList;
import java.util.function.IntToDoubleFunction;
import org.apache.commons.rng.UniformRandomProvider;
import understudy.routing.ClusterView;

/** Choice among replicas by a number for each of them. */
final class ReplicaChoice {
    private ReplicaChoice() {}

    /** Returns the replica that takes requests and costs least; among equals as {@link LeastOutstanding}. */
    static int lowest(ClusterView view, IntToDoubleFunction cost) {
        int best = view.firstReady();
        double lowest = cost.applyAsDouble(best);
        for (int i = best + 1; i < view.numReplicas(); i++) {
            if (!view.isReady(i)) {
                continue;
            }
            double value = cost.applyAsDouble(i);
            if (value < lowest || (value == lowest && view.compareLoads(i, best) < 0)) {
                best = i;
                lowest = value;
            }
        }
        return best;
    }

    /** Returns one of some replicas by chance, in proportion to weights of at least 0; if all are 0, any of them. */
    static int drawn(IntList replicas, IntToDoubleFunction weight, UniformRandomProvider random) {
        double sum = replicas.intStream().mapToDouble(weight).sum();
        if (sum == 0) {
            return replicas.getInt(random.nextInt(replicas.size()));
        }
        double rest = random.nextDouble() * sum;
        int last = replicas.size() - 1;
        for (int i = 0; i < last; i++) {
            rest -= weight.applyAsDouble(replicas.getInt(i));
            if (rest < 0) {
                return replicas.getInt(i);
            }
        }
        return replicas.getInt(last);
    }
}
