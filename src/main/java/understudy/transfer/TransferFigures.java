package understudy.transfer;

import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongList;

/**
 * Figures of some transfers of one kind.
 *
 * @param nanos how long each took, from the moment it was asked for to its end
 * @param bytes of each
 * @param descriptors of each: pieces of memory on the network, or blocks of the slower memory
 * @param numFailed others, which have failed
 */
public record TransferFigures(LongList nanos, LongList bytes, LongList descriptors, long numFailed) {
    /** No transfers. */
    public static final TransferFigures NONE = new TransferFigures(LongList.of(), LongList.of(), LongList.of(), 0);

    /** Returns these and those that came later. */
    public TransferFigures plus(TransferFigures later) {
        return new TransferFigures(
                joined(nanos, later.nanos),
                joined(bytes, later.bytes),
                joined(descriptors, later.descriptors),
                numFailed + later.numFailed);
    }

    private static LongList joined(LongList first, LongList second) {
        var all = new LongArrayList(first.size() + second.size());
        all.addAll(first);
        all.addAll(second);
        return all;
    }

    public long totalNanos() {
        return nanos.longStream().sum();
    }

    public long totalBytes() {
        return bytes.longStream().sum();
    }

    public boolean isEmpty() {
        return nanos.isEmpty() && numFailed == 0;
    }
}
