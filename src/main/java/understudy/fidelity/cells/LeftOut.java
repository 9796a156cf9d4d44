package understudy.fidelity.cells;

import java.util.List;

/**
 * Rows of a table that are in no mean.
 *
 * @param lines of the file
 * @param name of the measured model and server, as far as it is known
 * @param reason why not
 */
record LeftOut(List<Long> lines, String name, String reason) {}
