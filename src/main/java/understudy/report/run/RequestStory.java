package understudy.report.run;

import java.util.List;
import understudy.report.RequestRecord;

/**
 * A request that has ended, with its phases and the reason of its routing.
 *
 * @param reason why the router chose its replica, for people; empty if it chose none
 */
public record RequestStory(RequestRecord ended, List<RequestPhase> phases, String reason) {

    /** Returns how long all phases of a kind took. */
    public long nanosOf(RequestPhase.Kind kind) {
        return phases.stream()
                .filter(phase -> phase.kind() == kind)
                .mapToLong(phase -> phase.endNanos() - phase.startNanos())
                .sum();
    }
}
