package understudy.cluster.link;

import java.util.ArrayList;
import java.util.List;
import understudy.kvcache.connector.KvSource;
import understudy.kvcache.tier.TierSettings;
import understudy.kvcache.tier.TierSpec;
import understudy.settings.Section;
import understudy.transfer.LinkSpec;
import understudy.transfer.PortGroup;
import understudy.transfer.TransferCost;
import understudy.transfer.TransferSettings;

/**
 * Memory slower than a host's: its disk, or a store on the network.
 *
 * @param tier its size, and its eviction policy
 * @param link how fast it is; see {@link #READ}
 * @param lookupNanos time of a lookup, from the question to the answer
 * @param bytesPerChunk bytes of a chunk, on all GPUs of a replica
 * @param isShared whether all replicas have it together
 */
public record KvStoreSpec(TierSpec tier, LinkSpec link, long lookupNanos, long bytesPerChunk, boolean isShared) {
    /** Port of the link from the store. */
    public static final int READ = 0;

    /** Port of the link to the store. */
    public static final int WRITE = 1;

    /**
     * Reads the sections of such memories in {@code kv-cache.tiers}; those without a size are not there.
     *
     * @param bytesPerChunk bytes of a chunk, on all GPUs of a replica
     * @return the fastest first
     */
    public static List<KvStoreSpec> read(Section tiers, TierSettings settings, long bytesPerChunk) {
        var stores = new ArrayList<KvStoreSpec>();
        for (var source : List.of(KvSource.DISK, KvSource.STORE)) {
            int capacity = settings.capacity(tiers.section(Section.nameOf(source)));
            var store = read(tiers, source, Math.max(1, capacity), bytesPerChunk);
            if (capacity > 0) {
                stores.add(store);
            }
        }
        return stores;
    }

    /** Reads the section of one such memory, whose chunks are pages; without a size it is never full. */
    public static KvStoreSpec ofPages(Section tiers, KvSource source, TierSettings settings, long bytesPerPage) {
        int capacity = settings.capacity(tiers.section(Section.nameOf(source)));
        return read(tiers, source, capacity == 0 ? TierSettings.MAX_BLOCKS : capacity, bytesPerPage);
    }

    private static KvStoreSpec read(Section tiers, KvSource source, int capacity, long bytesPerChunk) {
        var section = tiers.section(Section.nameOf(source));
        var ports = PortGroup.of(
                TransferSettings.bytesPerSecond(section, "read-bandwidth"),
                TransferSettings.bytesPerSecond(section, "write-bandwidth"));
        var link = new LinkSpec(List.of(ports), TransferCost.NONE, LinkSpec.DEFAULT_TIMEOUT_NANOS);
        long lookupNanos = Math.round(section.nanos("lookup"));
        return new KvStoreSpec(TierSpec.of(capacity), link, lookupNanos, bytesPerChunk, source == KvSource.STORE);
    }

    /** Returns which memory it is. */
    public KvSource source() {
        return isShared ? KvSource.STORE : KvSource.DISK;
    }
}
