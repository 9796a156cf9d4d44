/**
 * Figures about KV that comes from other memories: where prompt tokens came from, transfers, slower memories.
 *
 * <p>Start with {@link understudy.report.transfers.TransferReport}.
 */
@NullMarked
package understudy.report.transfers;

import org.jspecify.annotations.NullMarked;
