package understudy.fidelity.cells;

import java.util.List;

/**
 * What there is to say about rows of a table: why they are left out, or what is assumed of them.
 *
 * @param lines of the file
 * @param name of the measured model and server, as far as it is known
 * @param text what is said
 */
record Remark(List<Long> lines, String name, String text) {}
