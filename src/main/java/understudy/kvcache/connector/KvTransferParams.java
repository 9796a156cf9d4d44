package understudy.kvcache.connector;

/**
 * Words of a router to two replicas that share a request (vLLM {@code kv_transfer_params}).
 *
 * @param doRemoteDecode whether another replica decodes: the blocks stay after the end, for it to read
 * @param doRemotePrefill whether {@code remoteReplica} has computed the prompt, and holds its blocks
 * @param remoteReplica index of that replica, or -1
 * @param numRemoteTokens how many tokens it holds, counted from the beginning of the prompt
 */
public record KvTransferParams(
        boolean doRemoteDecode, boolean doRemotePrefill, int remoteReplica, int numRemoteTokens) {
    /** To a replica that only computes the prompt. */
    public static final KvTransferParams REMOTE_DECODE = new KvTransferParams(true, false, -1, 0);

    /** Returns the words to a replica that decodes, behind another one which has computed the prompt. */
    public static KvTransferParams remotePrefill(int replica, int numTokens) {
        return new KvTransferParams(false, true, replica, numTokens);
    }
}
