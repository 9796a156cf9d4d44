package understudy.report;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The laws that hold at the end of every run, whatever the workload. Those about single events, work conservation and
 * the monotony of the clock, are enforced where the events happen, by an exception that ends the run.
 *
 * <p>Names follow BLIS ({@code docs/contributing/standards/invariants.md}).
 */
public final class Invariants {
    private Invariants() {}

    /** Returns one line for each law that was broken, none if all is well. */
    public static List<String> check(RunRecord run) {
        var broken = new ArrayList<String>();
        checkRequests(run, broken);
        checkPlanned(run, broken);
        checkPreemptions(run, broken);
        checkBlocks(run, broken);
        checkCausality(run, broken);
        if (run.numPeeks() > 0) {
            broken.add("no peeking: " + run.numPeeks() + " reads of output that was not sampled yet");
        }
        return broken;
    }

    private static void checkRequests(RunRecord run, List<String> broken) {
        long accounted = run.requests().size() + run.numUnfinished();
        if (accounted != run.numSent()) {
            broken.add("request conservation: " + run.numSent() + " sent, but "
                    + run.requests().size() + " ended and " + run.numUnfinished() + " are left");
        }
        if (!run.isPartial() && run.numUnfinished() > 0) {
            broken.add("request conservation: " + run.numUnfinished() + " requests are left at the end");
        }
    }

    private static void checkPlanned(RunRecord run, List<String> broken) {
        if (!run.isPartial() && run.numPlanned() != run.numSent() + run.numAbandoned()) {
            broken.add("request conservation: " + run.numPlanned() + " planned, but " + run.numSent() + " sent and "
                    + run.numAbandoned() + " abandoned");
        }
    }

    /** Checks that requests and replicas count the same preemptions, but for those of requests that have moved. */
    private static void checkPreemptions(RunRecord run, List<String> broken) {
        long ofReplicas = run.replicas().stream()
                .mapToLong(replica -> replica.stats().numPreemptions() - replica.numPreemptionsWithdrawn())
                .sum();
        long ofRequests = Arrays.stream(run.requests().preemptions.toArray()).sum();
        if (!run.isPartial() && ofRequests != ofReplicas) {
            broken.add("preemptions: replicas count " + ofReplicas + ", requests " + ofRequests);
        }
    }

    private static void checkBlocks(RunRecord run, List<String> broken) {
        for (var replica : run.replicas()) {
            var audit = replica.kvCache();
            boolean leaks = !run.isPartial() && audit.leaks();
            if (leaks || !audit.isConserved()) {
                broken.add("block conservation: replica " + replica.stats().replicaIndex() + " has " + audit);
            }
        }
    }

    private static void checkCausality(RunRecord run, List<String> broken) {
        var requests = run.requests();
        long[] before = requests.arrivalNanos.toArray();
        int first = before.length;
        for (var column : List.of(
                requests.queuedNanos, requests.scheduledNanos, requests.firstTokenNanos, requests.lastTokenNanos)) {
            long[] after = column.toArray();
            first = firstAbove(after, before, first);
            before = after;
        }
        long[] ends = new long[before.length];
        Arrays.fill(ends, run.endNanos());
        first = firstAbove(ends, before, first);
        if (first < ends.length) {
            broken.add("causality: " + requests.get(first));
        }
    }

    /** Returns the first index below {@code end} at which a time is later than its limit, else {@code end}. */
    private static int firstAbove(long[] limits, long[] nanos, int end) {
        for (int i = 0; i < end; i++) {
            if (nanos[i] > limits[i]) {
                return i;
            }
        }
        return end;
    }
}
