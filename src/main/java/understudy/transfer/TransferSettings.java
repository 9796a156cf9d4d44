package understudy.transfer;

import it.unimi.dsi.fastutil.longs.LongList;
import java.util.List;
import understudy.settings.Section;

/** The section {@code kv-cache.transfer}. */
public final class TransferSettings {
    private static final double BYTES_PER_GB = 1e9;
    private static final String CONNECTOR = "kv-connector";
    private static final long MIN_LEASE_NANOS = 1_000_000;

    private enum Connector {
        NONE,
        NIXL,
        BOOTSTRAP
    }

    private enum StaleRead {
        FAIL,
        GARBAGE
    }

    private enum LoadFailurePolicy {
        FAIL,
        RECOMPUTE
    }

    private TransferSettings() {}

    /** Returns whether replicas hand KV to other processes, and take it from them. */
    public static boolean reachesOutside(Section transfer) {
        return transfer.choice(CONNECTOR, Connector.class) != Connector.NONE;
    }

    /** Returns whether they push it, in rooms that calls name. */
    public static boolean hasRooms(Section transfer) {
        return transfer.choice(CONNECTOR, Connector.class) == Connector.BOOTSTRAP;
    }

    /**
     * Reads the section.
     *
     * @param host the section of the host memory, which says how fast that is
     */
    public static KvTransferSpec read(Section transfer, Section host, KvSizes kv) {
        double nics = (double) bytesPerSecond(transfer, "bandwidth") * kv.numGpus();
        long nicOneWay = (long) Math.min(nics, PortGroup.MAX_BYTES_PER_SECOND);
        var cost = new TransferCost(
                Math.round(transfer.nanos("handshake")),
                Math.round(transfer.nanos("post")),
                Math.round(transfer.nanos("per-descriptor")),
                Math.round(transfer.nanos("notify")));
        long timeoutNanos = Math.round(transfer.nanos("timeout"));
        return KvTransferSpecBuilder.builder()
                .hostLink(new LinkSpec(List.of(hostPorts(host)), TransferCost.NONE, timeoutNanos))
                .hostBytesPerBlock(kv.bytesPerBlockPerGpu())
                .nic(PortGroup.of(nicOneWay, nicOneWay))
                .networkBytesPerBlock(kv.bytesPerBlock())
                .networkBytesPerState(kv.bytesPerState())
                .chunkBytes(kv.bytesPerChunk())
                .descriptorsPerBlock(kv.numLayers())
                .networkCost(cost)
                .networkTimeoutNanos(timeoutNanos)
                .lease(new KvLease(leaseNanos(transfer), transfer.bool("lease-heartbeats")))
                .rooms(new RoomTimeouts(
                        Math.round(transfer.nanos("bootstrap-timeout")), Math.round(transfer.nanos("waiting-timeout"))))
                .isLayerWise(transfer.bool("layer-wise"))
                .failsOnLoadFailure(
                        transfer.choice("load-failure-policy", LoadFailurePolicy.class) == LoadFailurePolicy.FAIL)
                .failsStaleReads(transfer.choice("stale-read", StaleRead.class) == StaleRead.FAIL)
                .notifiesOnReject(transfer.bool("notify-on-reject"))
                .build();
    }

    /**
     * Returns the two ways between each GPU and the host; see {@link KvTransferSpec#TO_GPU}.
     *
     * @param host the section of the host memory
     */
    public static PortGroup hostPorts(Section host) {
        long oneWay = bytesPerSecond(host, "bandwidth");
        return new PortGroup(LongList.of(oneWay, oneWay), bytesPerSecond(host, "bandwidth-both-ways"));
    }

    private static long leaseNanos(Section transfer) {
        long nanos = Math.round(transfer.nanos("lease-duration"));
        if (nanos < MIN_LEASE_NANOS) {
            throw transfer.unusable("lease-duration", "must be at least 1ms");
        }
        return nanos;
    }

    /** Returns the bandwidth that a key has in GB/s, at least 1 byte per second. */
    public static long bytesPerSecond(Section section, String key) {
        double bytesPerSecond = section.positive(key) * BYTES_PER_GB;
        if (bytesPerSecond > PortGroup.MAX_BYTES_PER_SECOND) {
            throw section.unusable(key, "must be at most " + PortGroup.MAX_BYTES_PER_SECOND / (long) BYTES_PER_GB);
        }
        return Math.max(1, Math.round(bytesPerSecond));
    }
}
