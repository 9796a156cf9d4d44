package understudy.workload.files;

/** A workload file that cannot be used; the message names the file, the line, and what is allowed. */
public final class TraceException extends RuntimeException {
    private final String problem;

    public TraceException(String file, long line, String problem) {
        super(file + ":" + line + ": " + problem);
        this.problem = problem;
    }

    public TraceException(String file, String problem) {
        super(file + ": " + problem);
        this.problem = problem;
    }

    /** Returns the message without its place. */
    public String problem() {
        return problem;
    }
}
