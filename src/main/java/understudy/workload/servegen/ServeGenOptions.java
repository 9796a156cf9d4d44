package understudy.workload.servegen;

import java.nio.file.Path;
import java.util.List;

/**
 * Options of a day as ServeGen describes it.
 *
 * @param services all of them run side by side
 * @param startSeconds beginning of the excerpt on the clock of the services; time counts from there
 * @param durationSeconds after which no request comes any more, above 0
 * @param maxClients takes the clients of each service with most requests; 0 is all
 * @param hasReasoning whether answers have their reasoning in them
 * @param hasCoupledLengths whether one draw decides on all lengths of a request, as in ServeGen, so that a long prompt
 *     has a long answer
 */
public record ServeGenOptions(
        List<Service> services,
        long startSeconds,
        long durationSeconds,
        int maxClients,
        boolean hasReasoning,
        boolean hasCoupledLengths) {

    /**
     * One service.
     *
     * @param path a directory, or a tar archive
     * @param rateScale factor on its rates, above 0
     */
    public record Service(Path path, double rateScale) {}

    /** Returns the options with other services. */
    public ServeGenOptions with(List<Service> others) {
        return new ServeGenOptions(others, startSeconds, durationSeconds, maxClients, hasReasoning, hasCoupledLengths);
    }

    long endSeconds() {
        return startSeconds + durationSeconds;
    }
}
