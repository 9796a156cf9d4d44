package understudy.kvcache.connector;

import org.jspecify.annotations.Nullable;

/**
 * Words of a router to a replica about KV that others have, or need (vLLM {@code kv_transfer_params}).
 *
 * @param doRemoteDecode whether another replica decodes: the blocks stay after the end, for it to read
 * @param doRemotePrefill whether {@code remoteReplica} has computed the prompt, and holds its blocks
 * @param remoteReplica index of that replica, or of one whose host's memory may have some of the prompt, or -1; {@link
 *     #OUTSIDE} for a replica of another process
 * @param numRemoteTokens how many tokens it holds, counted from the beginning of the prompt
 * @param prefillNanos how long it took to compute the prompt; 0 if it is not known
 * @param remoteKv place of the blocks in the other process; null if no other process holds any
 */
public record KvTransferParams(
        boolean doRemoteDecode,
        boolean doRemotePrefill,
        int remoteReplica,
        int numRemoteTokens,
        long prefillNanos,
        @Nullable RemoteKv remoteKv) {
    /** Stands for any replica of another process. */
    public static final int OUTSIDE = -2;

    /** To a replica that only computes the prompt. */
    public static final KvTransferParams REMOTE_DECODE = new KvTransferParams(true, false, -1, 0, 0, null);

    /** To a replica that only computes the prompt, for another process. */
    public static final KvTransferParams OUTSIDE_DECODE = new KvTransferParams(true, false, OUTSIDE, 0, 0, null);

    /** Returns the words to a replica that decodes, behind another one which has computed the prompt. */
    public static KvTransferParams remotePrefill(int replica, int numTokens, long prefillNanos) {
        return new KvTransferParams(false, true, replica, numTokens, prefillNanos, null);
    }

    /** Returns the words to a replica that decodes, behind another process which has computed the prompt. */
    public static KvTransferParams outsidePrefill(RemoteKv remoteKv, int numTokens) {
        return new KvTransferParams(false, true, OUTSIDE, numTokens, 0, remoteKv);
    }

    /** Returns the words to a replica that computes the prompt of a room and sends its KV to another process. */
    public static KvTransferParams outsideDecode(RemoteKv room) {
        return new KvTransferParams(true, false, OUTSIDE, 0, 0, room);
    }

    /** Returns the words to a replica that may fetch the beginning of the prompt from another one's host. */
    public static KvTransferParams kvSource(int replica) {
        return new KvTransferParams(false, false, replica, 0, 0, null);
    }

    /** Returns whether the other replica is one of another process. */
    public boolean isOutside() {
        return remoteReplica == OUTSIDE;
    }

    /** Returns whether the host's memory of {@code remoteReplica} may have the beginning of the prompt. */
    public boolean isKvSource() {
        return !doRemotePrefill && remoteReplica >= 0;
    }
}
