package understudy.transfer;

import it.unimi.dsi.fastutil.longs.LongArrayList;

/** Log of the transfers of one kind that a replica has asked for: how many bytes they had, and how long they took. */
public final class TransferLog {
    private final boolean keepsAll;
    private final LongArrayList nanos = new LongArrayList();
    private final LongArrayList bytes = new LongArrayList();
    private final LongArrayList descriptors = new LongArrayList();
    private long numFailed;
    private int numTaken;
    private long numFailedTaken;

    /** @param keepsAll whether transfers are kept after they were taken */
    TransferLog(boolean keepsAll) {
        this.keepsAll = keepsAll;
    }

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

    /** Returns the transfers since the last call. */
    TransferFigures take() {
        if (nanos.size() == numTaken && numFailed == numFailedTaken) {
            return TransferFigures.NONE;
        }
        var figures = from(numTaken, numFailed - numFailedTaken);
        numFailedTaken = numFailed;
        if (!keepsAll) {
            nanos.clear();
            bytes.clear();
            descriptors.clear();
        }
        numTaken = nanos.size();
        return figures;
    }

    /** Returns all transfers that are kept. */
    TransferFigures all() {
        return from(0, numFailed);
    }

    private TransferFigures from(int first, long failures) {
        return new TransferFigures(copy(nanos, first), copy(bytes, first), copy(descriptors, first), failures);
    }

    private static LongArrayList copy(LongArrayList list, int first) {
        return new LongArrayList(list.subList(first, list.size()));
    }
}
