package understudy.bench;

/** A server that does not answer at all, or not as one of its kind; the message says which, and why. */
public final class BenchUnreachableException extends RuntimeException {

    BenchUnreachableException(String message) {
        super(message);
    }
}
