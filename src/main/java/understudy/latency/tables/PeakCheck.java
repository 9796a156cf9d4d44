package understudy.latency.tables;

import java.nio.file.Path;
import java.util.Locale;

/** Counts the rows of a table that are faster than a GPU's arithmetic allows; such a table measured something else. */
final class PeakCheck {
    private static final double MOST = 0.01;

    private final Path file;
    private final double flopPerMicro;
    private int numRows;
    private int numTooFast;

    PeakCheck(Path file, double flopPerMicro) {
        this.file = file;
        this.flopPerMicro = flopPerMicro;
    }

    void add(double flop, double micros) {
        numRows++;
        numTooFast += flop > flopPerMicro * micros ? 1 : 0;
    }

    /** Rejects the table if more than one row in a hundred was too fast. */
    void finish() {
        if (numTooFast > MOST * numRows) {
            throw new RejectedTableException(String.format(
                    Locale.ROOT,
                    "%d of %d rows of %s are faster than the tensor cores of the GPU",
                    numTooFast,
                    numRows,
                    file.getFileName()));
        }
    }
}
