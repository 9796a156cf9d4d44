package understudy.chaos.autoscaler.fleet;

import java.util.ArrayList;
import java.util.List;
import org.apache.commons.rng.UniformRandomProvider;
import understudy.testkit.EmulatedCluster;
import understudy.testkit.EmulatedRequest;
import understudy.workload.RandomStreams;

/**
 * Requests to a cluster: those of users, who wait for an answer before they ask again, so that the number of unfinished
 * ones stays as it is however slow the replicas are; and those that come at a rate. Users who go away leave their last
 * request to its end. One thread uses it.
 */
final class Load {
    private static final int PROMPT_TOKENS = 16;

    private final EmulatedCluster cluster;
    private final List<LoadStep> steps;
    private final int answerTokens;
    private final List<EmulatedRequest> ofUsers = new ArrayList<>();
    private final List<EmulatedRequest> ofRate = new ArrayList<>();
    private final UniformRandomProvider arrivals;
    private double due;
    private double gap;
    private long lookedNanos;

    /** Creates a load of the given steps, in the order of time, of which the first one is at 0. */
    Load(EmulatedCluster cluster, List<LoadStep> steps, int answerTokens, long seed) {
        this.cluster = cluster;
        this.steps = List.copyOf(steps);
        this.answerTokens = answerTokens;
        arrivals = new RandomStreams(seed).stream("arrivals");
        gap = nextGap();
    }

    /** Sends what is due by now. */
    void look(long nowNanos) {
        ofUsers.removeIf(EmulatedRequest::isEnded);
        ofRate.removeIf(EmulatedRequest::isEnded);
        var step = at(nowNanos);
        while (ofUsers.size() < step.users()) {
            ofUsers.add(submit());
        }
        due += step.requestsPerSecond() * Math.max(0, nowNanos - Math.max(lookedNanos, step.atNanos())) / 1e9;
        while (due >= gap) {
            ofRate.add(submit());
            due -= gap;
            gap = nextGap();
        }
        lookedNanos = nowNanos;
    }

    /** Returns a distance in a Poisson process, in relation to the mean. */
    private double nextGap() {
        return -Math.log(1 - arrivals.nextDouble());
    }

    private LoadStep at(long nowNanos) {
        var present = steps.get(0);
        for (var step : steps) {
            if (step.atNanos() <= nowNanos) {
                present = step;
            }
        }
        return present;
    }

    private EmulatedRequest submit() {
        return cluster.submit(PROMPT_TOKENS, answerTokens);
    }

    /** Returns the requests that have not ended. */
    int numUnfinished() {
        return ofUsers.size() + ofRate.size();
    }
}
