package understudy.routing.admission;

import understudy.routing.ClusterView;

/**
 * Limits at which a cluster counts as saturated: for each replica that takes requests the largest of its ratios to these
 * limits, and their average of 1 or more (Gateway API Inference Extension: utilization detector with queue depth 5 and KV
 * usage 0.8, concurrency detector with 100 requests). A limit that is infinite is none.
 *
 * @param maxOutstanding requests sent to a replica of weight 1 and not ended
 * @param maxWaiting requests in a replica's waiting queue, as it reports
 * @param maxKvCacheUsage share of a replica's KV blocks in use, as it reports
 */
public record Saturation(double maxOutstanding, double maxWaiting, double maxKvCacheUsage) {
    public static final Saturation NEVER =
            new Saturation(Double.POSITIVE_INFINITY, Double.POSITIVE_INFINITY, Double.POSITIVE_INFINITY);

    /** Returns whether reports of the replicas are needed to tell. */
    boolean needsReports() {
        return maxWaiting < Double.POSITIVE_INFINITY || maxKvCacheUsage < Double.POSITIVE_INFINITY;
    }

    /** Returns whether the cluster is saturated; one without a replica that takes requests is. */
    boolean isReached(ClusterView view) {
        if (view.numReady() == 0) {
            return true;
        }
        if (maxOutstanding == Double.POSITIVE_INFINITY && !needsReports()) {
            return false;
        }
        double sum = 0;
        for (int i = 0; i < view.numReplicas(); i++) {
            sum += view.isReady(i) ? ratio(view, i) : 0;
        }
        return sum >= view.numReady();
    }

    private double ratio(ClusterView view, int replica) {
        var report = view.report(replica);
        double ofQueues = Math.max(view.load(replica) / maxOutstanding, report.numWaiting() / maxWaiting);
        return Math.max(ofQueues, report.kvCacheUsage() / maxKvCacheUsage);
    }
}
