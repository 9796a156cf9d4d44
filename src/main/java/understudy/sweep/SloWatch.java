package understudy.sweep;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import understudy.cluster.ClusterEvent;
import understudy.report.Outcome;
import understudy.report.RequestRecord;
import understudy.report.ServiceLevels;

/** Watch over a run, which tells as soon as no further answers can keep a service level. */
final class SloWatch {
    private final ServiceLevels levels;
    private final long numRequests;
    private final Runnable onHopeless;
    private final Map<OptionalInt, Integer> misses = new HashMap<>();
    private boolean isHopeless;

    /**
     * @param numRequests requests of the run; a class has no more
     * @param onHopeless runs once
     */
    SloWatch(ServiceLevels levels, long numRequests, Runnable onHopeless) {
        this.levels = levels;
        this.numRequests = numRequests;
        this.onHopeless = onHopeless;
    }

    void on(ClusterEvent event) {
        if (event instanceof ClusterEvent.StepEnded step) {
            add(step.ended());
        } else if (event instanceof ClusterEvent.RequestEnded other) {
            add(List.of(other.ended()));
        }
    }

    private void add(List<RequestRecord> ended) {
        for (var request : ended) {
            boolean counts = request.outcome() != Outcome.ABORTED && request.outcome() != Outcome.PREFILL_LEG;
            if (counts && !levels.areMet(request)) {
                addMiss(levels.priorityOf(request));
            }
        }
    }

    private void addMiss(OptionalInt priority) {
        double allowed = (1 - levels.of(priority).attainment()) * numRequests;
        if (misses.merge(priority, 1, Integer::sum) > allowed && !isHopeless) {
            isHopeless = true;
            onHopeless.run();
        }
    }
}
