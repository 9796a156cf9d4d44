package understudy.workload.trace;

import java.io.Closeable;
import org.jspecify.annotations.Nullable;
import understudy.workload.files.TraceException;

/** Reads one trace format, one row at a time. */
public interface TraceReader extends Closeable {

    /**
     * Returns the next row, or null at the end.
     *
     * @throws TraceException if the row cannot be used
     */
    @Nullable TraceRow next();

    /** Returns the time from which arrivals count. */
    default long originNanos(TraceRow first) {
        return first.arrivalNanos();
    }

    @Override
    void close();
}
