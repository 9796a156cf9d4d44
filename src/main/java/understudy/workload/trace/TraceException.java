package understudy.workload.trace;

/** A workload file that cannot be used; the message names the file, the line, and what is allowed. */
public final class TraceException extends RuntimeException {

    public TraceException(String file, long line, String problem) {
        super(file + ":" + line + ": " + problem);
    }

    public TraceException(String file, String problem) {
        super(file + ": " + problem);
    }
}
