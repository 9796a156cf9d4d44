package understudy.sweep;

import java.util.concurrent.CompletableFuture;

/** Place where points are run: threads of this process, or other machines. */
public interface PointExecutor extends AutoCloseable {

    /** Runs a point as soon as there is room; the future fails if the run does, or is cancelled if none is to begin. */
    CompletableFuture<PointResult> submit(SweepPoint point);

    /** Begins no more runs, and gives up those under way. */
    void stop();

    /** Returns the place of the runs, for the line of progress; empty if there is nothing to say. */
    default String status() {
        return "";
    }

    @Override
    default void close() {
        stop();
    }
}
