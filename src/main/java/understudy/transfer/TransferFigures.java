package understudy.transfer;

import it.unimi.dsi.fastutil.longs.LongList;

/**
 * Figures of some transfers of one kind.
 *
 * @param nanos how long each took, from the moment it was asked for to its end
 * @param bytes of each
 * @param descriptors pieces of memory of each
 * @param numFailed others, which have failed
 */
public record TransferFigures(LongList nanos, LongList bytes, LongList descriptors, long numFailed) {
    /** No transfers. */
    public static final TransferFigures NONE = new TransferFigures(LongList.of(), LongList.of(), LongList.of(), 0);

    public boolean isEmpty() {
        return nanos.isEmpty() && numFailed == 0;
    }
}
