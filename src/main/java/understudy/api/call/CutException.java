package understudy.api.call;

import java.util.function.BooleanSupplier;

/** End of a stream without its last chunk, as if the server had died. */
public final class CutException extends Exception {
    private static final long serialVersionUID = 1L;

    private final transient BooleanSupplier isReset;

    /**
     * Creates the end of a stream.
     *
     * @param isReset asked when everything before the end has been read: whether the connection is to be reset, rather
     *     than closed behind that
     */
    CutException(BooleanSupplier isReset) {
        super("the answer was cut", null, false, false);
        this.isReset = isReset;
    }

    boolean isReset() {
        return isReset.getAsBoolean();
    }
}
