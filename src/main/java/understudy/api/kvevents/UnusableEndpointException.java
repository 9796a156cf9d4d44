package understudy.api.kvevents;

/** An address at which KV events cannot be published; the message is for people, and says which and why. */
public final class UnusableEndpointException extends IllegalStateException {
    private static final long serialVersionUID = 1;

    public UnusableEndpointException(String message, Throwable cause) {
        super(message, cause);
    }
}
