package understudy.routing;

import java.util.OptionalLong;

/**
 * Wire between replicas and router: delay and loss of the signals that the router gets.
 *
 * @param loadReportIntervalNanos from one load report to the next while anything changes; 0 is one for each change
 * @param loadReportDelayNanos how long a load report is under way
 * @param kvEventDelayNanos how long KV events are under way
 * @param kvEventLoss share of the batches of KV events that do not arrive, 0 to 1
 * @param kvEventReplayNanos from a batch before which one is missing to the replay of what is missing; empty if lost is
 *     lost
 */
public record Wire(
        long loadReportIntervalNanos,
        long loadReportDelayNanos,
        long kvEventDelayNanos,
        double kvEventLoss,
        OptionalLong kvEventReplayNanos) {
    /** Reports of every change, nothing late, nothing lost. */
    public static final Wire EXACT = new Wire(0, 0, 0, 0, OptionalLong.empty());
}
