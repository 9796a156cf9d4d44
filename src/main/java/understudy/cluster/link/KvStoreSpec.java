package understudy.cluster.link;

import understudy.kvcache.connector.KvSource;
import understudy.kvcache.tier.TierSpec;
import understudy.transfer.LinkSpec;

/**
 * Memory slower than a host's: its disk, or a store on the network.
 *
 * @param tier its size, and what gives way
 * @param link how fast it is; see {@link #READ}
 * @param lookupNanos from the question what it has to the answer
 * @param bytesPerChunk bytes of a chunk, on all GPUs of a replica
 * @param isShared whether all replicas have it together
 */
public record KvStoreSpec(TierSpec tier, LinkSpec link, long lookupNanos, long bytesPerChunk, boolean isShared) {
    /** Port of the link from the store. */
    public static final int READ = 0;

    /** Port of the link to the store. */
    public static final int WRITE = 1;

    /** Returns which memory it is. */
    public KvSource source() {
        return isShared ? KvSource.STORE : KvSource.DISK;
    }
}
