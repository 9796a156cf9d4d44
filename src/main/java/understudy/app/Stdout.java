package understudy.app;

import java.io.PrintWriter;

/** Finds out whether what was printed has arrived: a disk may be full, and the program behind a pipe may have ended. */
final class Stdout {
    private Stdout() {}

    /** Flushes, and returns whether something could not be written; a writer does not hear of what System.out keeps to itself. */
    static boolean hasFailed(PrintWriter out) {
        boolean hasWriterFailed = out.checkError();
        return System.out.checkError() || hasWriterFailed;
    }
}
