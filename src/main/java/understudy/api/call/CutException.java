package understudy.api.call;

/** End of a stream without its last chunk, as if the server had died. */
public final class CutException extends Exception {
    private static final long serialVersionUID = 1L;

    private final boolean isReset;

    /** Creates the end of a stream whose connection is reset, or closed behind what was sent. */
    CutException(boolean isReset) {
        super("the answer was cut", null, false, false);
        this.isReset = isReset;
    }

    boolean isReset() {
        return isReset;
    }
}
