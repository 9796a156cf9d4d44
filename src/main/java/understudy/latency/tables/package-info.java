/**
 * Times of single kernels from NVIDIA AIConfigurator's database, and the time of a step that follows from them.
 *
 * <p>Start with {@link understudy.latency.tables.TableLatency}, which sums kernels up over a step. {@link
 * understudy.latency.tables.KernelDatabase} finds files, {@link understudy.latency.tables.TableChoice} chooses among
 * the versions of a table, and what no table has comes from the roofline, with a warning.
 */
@NullMarked
package understudy.latency.tables;

import org.jspecify.annotations.NullMarked;
