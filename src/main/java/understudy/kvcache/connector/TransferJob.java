package understudy.kvcache.connector;

import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.longs.LongList;

/**
 * Move of KV to or from a replica's blocks, as a whole.
 *
 * @param job its number, unique in the replica
 * @param requestId for which it is
 * @param numTokens whose KV is moved; a place that holds less than a block counts whole
 * @param gpuBlocks blocks of the replica that are read or written, in the order of the prompt
 * @param otherBlocks blocks of the slower memory, one for each chunk of {@code gpuBlocks}; none for another replica
 * @param remoteReplica index of the replica at the other end, {@link KvTransferParams#OUTSIDE}, or -1
 * @param keys chunks that are moved between slower memories, by their hashes; else none
 * @param store index of the slower memory of a {@link Kind#CASCADE}, or -1
 */
public record TransferJob(
        long job,
        Kind kind,
        long requestId,
        int numTokens,
        IntList gpuBlocks,
        IntList otherBlocks,
        int remoteReplica,
        LongList keys,
        int store) {

    /** Creates a move to or from the replica's blocks. */
    public TransferJob(
            long job,
            Kind kind,
            long requestId,
            int numTokens,
            IntList gpuBlocks,
            IntList otherBlocks,
            int remoteReplica) {
        this(job, kind, requestId, numTokens, gpuBlocks, otherBlocks, remoteReplica, LongList.of(), -1);
    }

    /** Creates a move of chunks between host memory and a slower one. */
    public static TransferJob ofChunks(
            long job, Kind kind, long requestId, LongList keys, int store, int remoteReplica) {
        return new TransferJob(job, kind, requestId, 0, IntList.of(), IntList.of(), remoteReplica, keys, store);
    }

    /** Returns the same job under another number. */
    TransferJob numbered(long number) {
        return new TransferJob(number, kind, requestId, numTokens, gpuBlocks, otherBlocks, remoteReplica, keys, store);
    }

    /** Direction of a move. */
    public enum Kind {
        /** From a slower memory; the request waits for it. */
        LOAD,
        /** To a slower memory; no request waits for it. */
        STORE,
        /** From the blocks of another replica, which are free afterwards; the request waits for it. */
        READ,
        /** Nothing is moved, but another replica may free its blocks. */
        NOTIFY,
        /** The same, of a request that has ended before it was admitted. */
        NOTIFY_UNSERVED,
        /** From a slower memory to the host's; whether anything is there has to be asked first. */
        PROMOTE,
        /** From the host's memory to a slower one, as far as that does not have it. */
        CASCADE;

        /** Returns whether a request waits until such a job is over. */
        public boolean isAwaited() {
            return this == LOAD || this == READ;
        }
    }
}
