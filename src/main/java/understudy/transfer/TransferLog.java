package understudy.transfer;

import it.unimi.dsi.fastutil.longs.LongArrayList;

/** Log of the transfers of one kind that a replica has asked for: how many bytes they had, and how long they took. */
public final class TransferLog {
    private final LongArrayList nanos = new LongArrayList();
    private final LongArrayList bytes = new LongArrayList();
    private final LongArrayList descriptors = new LongArrayList();
    private long numFailed;

    /** Adds a transfer, from the moment it was asked for to its end. */
    public void add(TransferEnded ended, int numDescriptors) {
        if (ended.isFailed()) {
            numFailed++;
            return;
        }
        nanos.add(ended.endNanos() - ended.startNanos());
        bytes.add(ended.bytes());
        descriptors.add(numDescriptors);
    }

    /** Adds one that has failed before any byte was moved. */
    public void addFailed() {
        numFailed++;
    }

    /** Returns the transfers since the last call, and forgets them. */
    public TransferFigures take() {
        var figures = new TransferFigures(
                LongArrayList.of(nanos.toLongArray()),
                LongArrayList.of(bytes.toLongArray()),
                LongArrayList.of(descriptors.toLongArray()),
                numFailed);
        nanos.clear();
        bytes.clear();
        descriptors.clear();
        numFailed = 0;
        return figures;
    }
}
