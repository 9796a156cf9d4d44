package understudy.sweep;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Optional;

/**
 * Result of one run.
 *
 * @param name of its point
 * @param meetsSlo whether all classes of requests keep their service level; empty if there is none
 * @param isHopeless whether it was ended as soon as the service level could not be kept any more
 * @param figures the report as {@code run --json} has it, without what depends on the machine or on one replica, and what
 *     follows per GPU; nothing of a hopeless run
 */
public record PointResult(String name, Optional<Boolean> meetsSlo, boolean isHopeless, ObjectNode figures) {

    /** Returns whether a search may go on beyond this point. */
    boolean isGood() {
        return meetsSlo.orElse(false);
    }
}
