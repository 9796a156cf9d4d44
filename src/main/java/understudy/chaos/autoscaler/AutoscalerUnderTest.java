package understudy.chaos.autoscaler;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;

/** A kind of autoscaler that the kit can start, as often as it needs. */
public interface AutoscalerUnderTest {

    /** Returns how reports name it. */
    String name();

    /**
     * Starts an autoscaler, which by and by begins to ask for metrics and for the scale.
     *
     * @param setup what it works with
     * @return the autoscaler, which the caller closes
     * @throws IOException if it does not start; the message says why
     */
    Running start(Setup setup) throws IOException;

    /**
     * What an autoscaler is told at its start.
     *
     * @param scale address of the scale subresource
     * @param targets address of the targets to scrape, in the form of Prometheus' HTTP service discovery
     * @param metrics address of all metrics on one page, in the form of Prometheus' federation
     * @param minReplicas fewest replicas; with 0 the last one goes when there is nothing to do
     * @param maxReplicas most replicas
     * @param requestsPerReplica requests that a replica runs at the same time, at which it aims
     * @param periodMillis time from one evaluation to the next
     * @param windowMillis stabilization window on the way down, and before the last replica goes
     * @param directory scratch directory of its own
     */
    record Setup(
            URI scale,
            URI targets,
            URI metrics,
            int minReplicas,
            int maxReplicas,
            int requestsPerReplica,
            int periodMillis,
            int windowMillis,
            Path directory) {}

    /** An autoscaler that runs. */
    interface Running extends AutoCloseable {
        /** Returns whether its process, or what stands for it, is still there. */
        boolean isAlive();

        /** Returns how it has ended, such as {@code has ended with code 1}; it must have. */
        String end() throws IOException;

        /** Ends it with all that it has started, within a few seconds, whatever state it is in. */
        @Override
        void close();
    }
}
