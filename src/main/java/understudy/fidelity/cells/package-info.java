/**
 * Tables of measured cells, each of which is run again.
 *
 * <p>Start with {@link understudy.fidelity.cells.MeasuredCells} and {@link understudy.fidelity.cells.CellScenario}.
 */
@NullMarked
package understudy.fidelity.cells;

import org.jspecify.annotations.NullMarked;
