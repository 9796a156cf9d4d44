package understudy.routing.policy;

import it.unimi.dsi.fastutil.ints.IntArrayFIFOQueue;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import understudy.engine.Request;
import understudy.routing.ClusterView;
import understudy.routing.ReplicaTraits;
import understudy.routing.RoutingPolicyFactory;
import understudy.routing.Signal;

/**
 * The rule of {@link TtftEstimate} for a router that knows how far its replicas are: it also counts the tokens left to
 * compute according to a load report after every step, with those of the requests that have not arrived by then, and
 * goes by what is more. No router has that.
 *
 * <p>It is a bound by information, not by optimality: it shows what exact signals do for this rule, and another rule
 * may do better. It places one request at a time, does not foresee any, and reports do not tell what is cached of
 * prompts that wait. Among equals {@link LeastOutstanding} chooses: if nothing is left to compute, the replica with
 * the fewest decodes.
 */
final class Oracle extends TtftEstimate {
    static final RoutingPolicyFactory FACTORY =
            new RoutingPolicyFactory("oracle", Set.of(Signal.values()), Oracle::new);

    /** Length of the prompts that remaining tokens count as: steps are full then, and attention spans no more. */
    private static final int PIECE_TOKENS = 8_192;

    private final List<UnderWay> underWay = new ArrayList<>();
    private double stepNanos = 1;

    /** Tokens to compute of the requests that were sent to one replica, from the oldest that has not arrived on. */
    private static final class UnderWay {
        final IntArrayFIFOQueue tokens = new IntArrayFIFOQueue();
        long sum;

        void add(int numTokens) {
            tokens.enqueue(numTokens);
            sum += numTokens;
        }

        void keepLatest(long count) {
            while (tokens.size() > Math.max(0, count)) {
                sum -= tokens.dequeueInt();
            }
        }
    }

    private Oracle(RoutingPolicyFactory.Cluster cluster) {
        super(cluster);
    }

    @Override
    public int choose(Request request, ClusterView view) {
        stepNanos = shortestStepNanos(view);
        int chosen = super.choose(request, view);
        underWay(chosen).add(request.prompt().length() - cachedTokens(chosen));
        return chosen;
    }

    /** A first token comes with the end of a step, so what is less than the shortest step apart is equal. */
    @Override
    double cost(int replica, ClusterView view) {
        return Math.floor(estimatedTtftNanos(replica) / stepNanos);
    }

    private static double shortestStepNanos(ClusterView view) {
        double shortest = Double.POSITIVE_INFINITY;
        for (int i = 0; i < view.numReplicas(); i++) {
            if (view.isReady(i)) {
                shortest = Math.min(shortest, view.traits(i).prefillNanos(1, 0));
            }
        }
        return Math.max(1, shortest);
    }

    /**
     * For reports a token is computed once it is scheduled, and for the router's account not before the first token.
     */
    @Override
    double backlogNanos(int replica, ClusterView view) {
        var report = view.report(replica);
        var sent = underWay(replica);
        // Requests arrive in the order in which they were sent, and the report counts those that have.
        sent.keepLatest(view.outstanding(replica) - report.numRunning() - report.numWaiting());
        double reported = nanos(report.pendingPrefillTokens() + sent.sum, view.traits(replica));
        return Math.max(reported, super.backlogNanos(replica, view));
    }

    private UnderWay underWay(int replica) {
        while (underWay.size() <= replica) {
            underWay.add(new UnderWay());
        }
        return underWay.get(replica);
    }

    private static double nanos(long numTokens, ReplicaTraits traits) {
        long numPieces = numTokens / PIECE_TOKENS;
        int rest = (int) (numTokens % PIECE_TOKENS);
        double restNanos = rest == 0 ? 0 : traits.prefillNanos(rest, 0);
        return numPieces * traits.prefillNanos(PIECE_TOKENS, 0) + restNanos;
    }
}
