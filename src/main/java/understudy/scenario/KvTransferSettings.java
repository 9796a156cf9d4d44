package understudy.scenario;

import it.unimi.dsi.fastutil.longs.LongList;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import understudy.cluster.link.KvStoreSpec;
import understudy.engine.EngineSpec;
import understudy.kvcache.connector.ConnectorSpec;
import understudy.kvcache.connector.MultiSpec;
import understudy.kvcache.connector.NixlSpec;
import understudy.kvcache.tier.OffloadingSpec;
import understudy.kvcache.tier.TierPolicy;
import understudy.kvcache.tier.TierSpec;
import understudy.settings.Section;
import understudy.transfer.KvLease;
import understudy.transfer.KvTransferSpec;
import understudy.transfer.KvTransferSpecBuilder;
import understudy.transfer.LinkSpec;
import understudy.transfer.PortGroup;
import understudy.transfer.TransferCost;

/**
 * The sections {@code kv-cache.tiers} and {@code kv-cache.transfer}.
 *
 * @param connector where KV comes from besides the GPU
 * @param transfers how it is moved
 * @param stores memories slower than the host's, the fastest first
 */
record KvTransferSettings(ConnectorSpec connector, KvTransferSpec transfers, List<KvStoreSpec> stores) {
    private static final double BYTES_PER_GIB = 1 << 30;
    private static final double BYTES_PER_GB = 1e9;
    private static final int MAX_BLOCKS = 1 << 28;
    private static final int MAX_TOKENS = 1 << 30;
    private static final long MIN_LEASE_NANOS = 1_000_000;

    private enum Connector {
        NONE,
        NIXL
    }

    private enum StaleRead {
        FAIL,
        GARBAGE
    }

    private enum LoadFailurePolicy {
        FAIL,
        RECOMPUTE
    }

    /**
     * Reads both sections; empty if a replica has no KV but its own.
     *
     * @param hasNixl whether other replicas read from it, or it from them
     */
    static Optional<KvTransferSettings> read(
            Section kvCache, EngineSpec engine, Deployment deployment, boolean hasNixl) {
        var specs = new ArrayList<ConnectorSpec>();
        boolean isAsync = engine.traits().maxStepsInFlight() > 1;
        if (hasNixl) {
            specs.add(new NixlSpec(true, isAsync));
        }
        var tiers = kvCache.section("tiers");
        var host = tiers.section("host");
        var chunks = new Chunks(
                host.wholeNumber("blocks-per-chunk", 1, MAX_BLOCKS),
                engine.kvCache().blockSize(),
                deployment);
        var stores = stores(tiers, chunks);
        var offloading = offloading(host, chunks, engine, stores.size());
        if (offloading.isEmpty() && !stores.isEmpty()) {
            throw tiers.unusable("host", "which needs a size, since KV goes to disk and store through it");
        }
        offloading.ifPresent(specs::add);
        var transfers = transfers(kvCache.section("transfer"), host, chunks);
        if (specs.isEmpty()) {
            return Optional.empty();
        }
        if (offloading.isPresent()) {
            requireBlocksByContent(host, host.number("gib", 0, Double.MAX_VALUE) > 0 ? "gib" : "tokens", engine);
        } else {
            requireBlocksByContent(kvCache, "sessions", engine);
        }
        var connector = specs.size() == 1 ? specs.get(0) : new MultiSpec(specs);
        return Optional.of(new KvTransferSettings(connector, transfers, stores));
    }

    /** Returns whether replicas hand KV to other processes, and take it from them. */
    static boolean reachesOutside(Section transfer) {
        return transfer.choice("kv-connector", Connector.class) == Connector.NIXL;
    }

    /** Returns whether a replica has slower memories behind its GPUs. */
    static boolean hasTiers(Section kvCache) {
        var host = kvCache.section("tiers").section("host");
        return !host.isDefault("gib") || !host.isDefault("tokens");
    }

    private static void requireBlocksByContent(Section section, String key, EngineSpec engine) {
        if (!engine.kvCache().takesConnector()) {
            throw section.unusable(
                    key,
                    "which, like groups with roles and kv-connector = nixl, need engine.kind = vllm with dedup ="
                            + " blocks, and kv-cache.sessions = off");
        }
    }

    /** Unit of what is moved and found outside of the GPU. */
    private record Chunks(int numBlocks, int blockSize, Deployment deployment) {
        /** Returns how many fit into the size that a section says; 0 if it says none. */
        int capacity(Section memory) {
            double bytes = memory.number("gib", 0, Double.MAX_VALUE) * BYTES_PER_GIB;
            double tokens = memory.wholeNumber("tokens", 0, MAX_TOKENS);
            double copies = deployment.kvBytesPerTokenPerGpu() * deployment.numGpus();
            double numChunks = Math.max(bytes / copies, tokens) / (numBlocks * blockSize);
            if (numChunks > MAX_BLOCKS) {
                throw memory.unusable("gib", "which is room for more than " + MAX_BLOCKS + " chunks");
            }
            return (int) numChunks;
        }

        long bytes() {
            return Math.round(numBlocks * blockSize * deployment.kvBytesPerToken());
        }
    }

    private static Optional<OffloadingSpec> offloading(Section host, Chunks chunks, EngineSpec engine, int numStores) {
        var policy = host.choice("eviction-policy", TierPolicy.class);
        int threshold = host.wholeNumber("store-threshold", 0, MAX_BLOCKS);
        int tracked = host.wholeNumber("max-tracker-size", 1, MAX_BLOCKS);
        boolean promptOnly = host.bool("offload-prompt-only");
        int capacity = chunks.capacity(host);
        if (capacity == 0) {
            return Optional.empty();
        }
        var tier = new TierSpec(capacity, policy, threshold, tracked);
        return Optional.of(new OffloadingSpec(
                tier,
                chunks.numBlocks,
                promptOnly,
                engine.traits().maxStepsInFlight() > 1,
                engine.kvCache().dropsLastHit(),
                numStores));
    }

    private static List<KvStoreSpec> stores(Section tiers, Chunks chunks) {
        var stores = new ArrayList<KvStoreSpec>();
        for (String name : List.of("disk", "store")) {
            var section = tiers.section(name);
            var ports =
                    PortGroup.of(bytesPerSecond(section, "read-bandwidth"), bytesPerSecond(section, "write-bandwidth"));
            long lookupNanos = Math.round(section.nanos("lookup"));
            int capacity = chunks.capacity(section);
            if (capacity > 0) {
                var link = new LinkSpec(List.of(ports), TransferCost.NONE, LinkSpec.DEFAULT_TIMEOUT_NANOS);
                boolean isShared = name.equals("store");
                stores.add(new KvStoreSpec(TierSpec.of(capacity), link, lookupNanos, chunks.bytes(), isShared));
            }
        }
        return stores;
    }

    private static KvTransferSpec transfers(Section transfer, Section host, Chunks chunks) {
        int blockSize = chunks.blockSize;
        var deployment = chunks.deployment;
        long oneWay = bytesPerSecond(host, "bandwidth");
        var hostPorts = new PortGroup(LongList.of(oneWay, oneWay), bytesPerSecond(host, "bandwidth-both-ways"));
        long nicOneWay = bytesPerSecond(transfer, "bandwidth") * deployment.numGpus();
        var cost = new TransferCost(
                Math.round(transfer.nanos("handshake")),
                Math.round(transfer.nanos("post")),
                Math.round(transfer.nanos("per-descriptor")),
                Math.round(transfer.nanos("notify")));
        long timeoutNanos = Math.round(transfer.nanos("timeout"));
        return KvTransferSpecBuilder.builder()
                .hostLink(new LinkSpec(List.of(hostPorts), TransferCost.NONE, timeoutNanos))
                .hostBytesPerBlock(Math.round(blockSize * deployment.kvBytesPerTokenPerGpu()))
                .nic(PortGroup.of(nicOneWay, nicOneWay))
                .networkBytesPerBlock(Math.round(blockSize * deployment.kvBytesPerToken()))
                .chunkBytes(chunks.bytes())
                .descriptorsPerBlock(deployment.numLayers())
                .networkCost(cost)
                .networkTimeoutNanos(timeoutNanos)
                .lease(new KvLease(leaseNanos(transfer), transfer.bool("lease-heartbeats")))
                .isLayerWise(transfer.bool("layer-wise"))
                .failsOnLoadFailure(
                        transfer.choice("load-failure-policy", LoadFailurePolicy.class) == LoadFailurePolicy.FAIL)
                .failsStaleReads(transfer.choice("stale-read", StaleRead.class) == StaleRead.FAIL)
                .notifiesOnReject(transfer.bool("notify-on-reject"))
                .build();
    }

    private static long leaseNanos(Section transfer) {
        long nanos = Math.round(transfer.nanos("lease-duration"));
        if (nanos < MIN_LEASE_NANOS) {
            throw transfer.unusable("lease-duration", "must be at least 1ms");
        }
        return nanos;
    }

    private static long bytesPerSecond(Section section, String key) {
        return Math.max(1, Math.round(section.positive(key) * BYTES_PER_GB));
    }
}
