package understudy.api.kvevents;

/** Failure to publish KV events at an address; the message is for people, and says which address and why. */
public final class UnusableEndpointException extends IllegalStateException {
    private static final long serialVersionUID = 1;

    public UnusableEndpointException(String message, Throwable cause) {
        super(message, cause);
    }
}
