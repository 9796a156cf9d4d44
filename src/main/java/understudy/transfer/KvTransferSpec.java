package understudy.transfer;

import io.soabase.recordbuilder.core.RecordBuilder;
import java.util.List;

/**
 * How the KV of a replica is moved.
 *
 * @param hostLink link of each GPU to host memory, all of which move their share at the same time; see {@link #TO_GPU}
 * @param hostBytesPerBlock bytes of a KV block on one GPU
 * @param nic the replica's ports on the network: first the way out, then the way in
 * @param networkBytesPerBlock bytes of a KV block on all GPUs, what each of them has a copy of counted once
 * @param networkBytesPerState bytes of a sequence beside its blocks, which go with the last of those that are pushed
 * @param chunkBytes bytes of a chunk of host memory, likewise
 * @param descriptorsPerBlock pieces of memory that a block is in
 * @param networkCost time of a transfer over the network besides that of its bytes
 * @param networkTimeoutNanos how long one may stand still before it fails
 * @param lease how long blocks are kept for another replica
 * @param rooms how long processes wait for each other where KV is pushed
 * @param isLayerWise whether a prompt's KV is sent layer by layer while the prompt is computed (Mooncake, SGLang)
 * @param failsOnLoadFailure whether a request fails whose KV could not be loaded; else it is computed here (vLLM {@code
 *     kv_load_failure_policy})
 * @param failsStaleReads whether a read fails if the other replica has given the blocks up; else whatever is in them by
 *     then is taken for the prompt's KV
 * @param notifiesOnReject whether another replica is told that a request will never read its blocks; else these stay
 *     until their lease ends
 */
@RecordBuilder
public record KvTransferSpec(
        LinkSpec hostLink,
        long hostBytesPerBlock,
        PortGroup nic,
        long networkBytesPerBlock,
        long networkBytesPerState,
        long chunkBytes,
        int descriptorsPerBlock,
        TransferCost networkCost,
        long networkTimeoutNanos,
        KvLease lease,
        RoomTimeouts rooms,
        boolean isLayerWise,
        boolean failsOnLoadFailure,
        boolean failsStaleReads,
        boolean notifiesOnReject) {
    /** Port of the host link into the GPU. */
    public static final int TO_GPU = 0;

    /** Port of the host link out of the GPU. */
    public static final int FROM_GPU = 1;

    /**
     * Returns the bytes of so many blocks that are still to be moved when the prompt is computed: all, or, layer by layer,
     * what the network could not take meanwhile, and the last layer in any case.
     */
    public long exposedBytes(int numBlocks, long prefillNanos) {
        long all = numBlocks * networkBytesPerBlock;
        if (!isLayerWise) {
            return all;
        }
        double moved = nic.bytesPerSecond().getLong(1) * 1e-9 * prefillNanos;
        return Math.max(all / descriptorsPerBlock, Math.round(all - moved));
    }

    /** Returns the network of replicas like this one. */
    public LinkSpec network(List<PortGroup> nics) {
        return new LinkSpec(nics, networkCost, networkTimeoutNanos);
    }

    /** Returns the port of the network that leads out of a replica. */
    public static int portOut(int replica) {
        return 2 * replica;
    }

    /** Returns the port of the network that leads into a replica. */
    public static int portIn(int replica) {
        return 2 * replica + 1;
    }
}
