/**
 * Transfers of bytes that share bandwidth: how long each one takes.
 *
 * <p>Start with {@link understudy.transfer.SharedBandwidth}, which divides the capacity of ports among the transfers
 * that cross them; {@link understudy.transfer.Transfers} adds what comes before and after the bytes, and what can go
 * wrong. Times are nanoseconds on the caller's clock, bytes are counted exactly.
 */
@NullMarked
package understudy.transfer;

import org.jspecify.annotations.NullMarked;
