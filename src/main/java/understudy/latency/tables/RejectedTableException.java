package understudy.latency.tables;

/** A table of a version that cannot be used, and why; another version of it may be. */
final class RejectedTableException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    RejectedTableException(String reason) {
        super(reason);
    }
}
