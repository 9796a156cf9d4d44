package understudy.chaos.wire;

import java.io.IOException;

/** A body that is not what its format says. */
public final class MalformedBodyException extends IOException {
    private static final long serialVersionUID = 1;

    public MalformedBodyException(String message) {
        super(message);
    }
}
