package understudy.testkit;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import understudy.faults.ReplicaState;
import understudy.report.ReplicaStats;
import understudy.report.RunReport;
import understudy.report.latency.LatencyStats;
import understudy.runtime.Stopwatch;

/**
 * Assertions about a cluster at one moment, for any test framework: each throws {@link AssertionError} if it does not
 * hold, and else returns this.
 */
public final class ClusterCheck {
    private static final double METRIC_LIMIT_SECONDS = 5;
    private static final long METRIC_PAUSE_MILLIS = 5;

    private final RunReport report;
    private final List<ReplicaState> states;
    private final EmulatedCluster cluster;

    ClusterCheck(RunReport report, List<ReplicaState> states, EmulatedCluster cluster) {
        this.report = report;
        this.states = states;
        this.cluster = cluster;
    }

    /** Asserts how many requests were answered. */
    public ClusterCheck hasCompleted(long count) {
        return equal("completed requests", count, report.numCompleted());
    }

    /** Asserts how many answers broke off, or never began because of a fault. */
    public ClusterCheck hasFailed(long count) {
        return equal("failed requests", count, report.numFailed());
    }

    /** Asserts how many requests their sender gave up. */
    public ClusterCheck hasAborted(long count) {
        return equal("aborted requests", count, report.numAborted());
    }

    /** Asserts how many requests were turned away because they can never fit. */
    public ClusterCheck hasRejected(long count) {
        return equal("rejected requests", count, report.numRejected());
    }

    /** Asserts how many requests are still with a replica. */
    public ClusterCheck hasUnfinished(long count) {
        return equal("unfinished requests", count, report.numUnfinished());
    }

    /** Asserts how often a request lost its blocks to another one. */
    public ClusterCheck hasPreempted(long count) {
        return equal("preemptions", count, report.numPreemptions());
    }

    /** Asserts how many prompt tokens were found in prefix caches. */
    public ClusterCheck hasPrefixCacheHits(long tokens) {
        return equal("prefix cache hits", tokens, report.prefixCache().hits());
    }

    /** Asserts that the mean time to first token of the answered requests is at most so long. */
    public ClusterCheck hasMeanTtftOfAtMost(Duration most) {
        return atMost("mean TTFT", most, report.ttft());
    }

    /** Asserts that the mean gap between tokens is at most so long. */
    public ClusterCheck hasMeanItlOfAtMost(Duration most) {
        return atMost("mean ITL", most, report.itl());
    }

    /** Asserts the state of a replica. */
    public ClusterCheck hasState(int replicaIndex, ReplicaState state) {
        return equal("state of replica " + replicaIndex, state, states.get(replicaIndex));
    }

    /** Asserts how many requests a replica was given. */
    public ClusterCheck hasServed(int replicaIndex, long count) {
        return equal(
                "requests of replica " + replicaIndex,
                count,
                stats(replicaIndex).numRequests());
    }

    /** Asserts what {@code /metrics} of a served cluster shows: the sum of all series of this name. */
    public ClusterCheck hasMetric(String name, double value) {
        return hasMetric(name, "", value);
    }

    /**
     * Asserts what {@code /metrics} of a served cluster shows: the sum of all series of this name whose labels contain
     * {@code label}. Waits a while for it, since these figures follow the answers at a small distance.
     */
    public ClusterCheck hasMetric(String name, String label, double value) {
        var waiting = Stopwatch.start();
        double actual = cluster.metric(name, label);
        while (actual != value && waiting.seconds() < METRIC_LIMIT_SECONDS) {
            pause();
            actual = cluster.metric(name, label);
        }
        return equal(label.isEmpty() ? name : name + " with " + label, value, actual);
    }

    /** Leaves the processor to the threads that change the figure. */
    private static void pause() {
        new CompletableFuture<Void>()
                .completeOnTimeout(null, METRIC_PAUSE_MILLIS, TimeUnit.MILLISECONDS)
                .join();
    }

    private ReplicaStats stats(int replicaIndex) {
        return report.replicas().get(replicaIndex);
    }

    private ClusterCheck atMost(String what, Duration most, LatencyStats actual) {
        if (actual.count() == 0 || actual.meanNanos() > most.toNanos()) {
            throw new AssertionError(what + ": expected at most " + most.toNanos() + " ns, but it is "
                    + actual.meanNanos() + " ns of " + actual.count());
        }
        return this;
    }

    private ClusterCheck equal(String what, Object expected, Object actual) {
        if (!Objects.equals(expected, actual)) {
            throw new AssertionError(what + ": expected " + expected + ", but it is " + actual);
        }
        return this;
    }
}
