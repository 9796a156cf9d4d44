package understudy.workload.trace;

import java.io.FilterInputStream;
import java.io.InputStream;

/**
 * Input that may be a pipe. To say how much is left, the JDK's stream of a path asks for a position, which a pipe has
 * not, and fails; code that reads ahead asks.
 */
final class UnseekableInput extends FilterInputStream {
    UnseekableInput(InputStream in) {
        super(in);
    }

    /** Says that there may be more: only then does the JDK look for another member behind the end of a gzip'd one. */
    @Override
    public int available() {
        return 1;
    }
}
