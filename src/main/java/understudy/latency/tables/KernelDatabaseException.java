package understudy.latency.tables;

/** A directory of measured kernels that cannot be read; the message names the file. */
public final class KernelDatabaseException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    KernelDatabaseException(String message) {
        super(message);
    }
}
