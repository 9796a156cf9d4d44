package understudy.scenario;

import it.unimi.dsi.fastutil.longs.LongList;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import understudy.engine.SchedulerConfig;
import understudy.kvcache.connector.ConnectorSpec;
import understudy.kvcache.connector.MultiSpec;
import understudy.kvcache.connector.NixlSpec;
import understudy.kvcache.tier.OffloadingSpec;
import understudy.kvcache.tier.TierPolicy;
import understudy.kvcache.tier.TierSpec;
import understudy.transfer.KvLease;
import understudy.transfer.KvTransferSpec;
import understudy.transfer.LinkSpec;
import understudy.transfer.PortGroup;
import understudy.transfer.TransferCost;

/**
 * The sections {@code kv-cache.tiers} and {@code kv-cache.transfer}.
 *
 * @param connector where KV comes from besides the GPU
 * @param transfers how it is moved
 */
record KvTransferSettings(ConnectorSpec connector, KvTransferSpec transfers) {
    private static final double BYTES_PER_GIB = 1 << 30;
    private static final double BYTES_PER_GB = 1e9;
    private static final int MAX_BLOCKS = 1 << 28;
    private static final int MAX_TOKENS = 1 << 30;

    private enum LoadFailurePolicy {
        FAIL,
        RECOMPUTE
    }

    private enum StaleRead {
        FAIL,
        GARBAGE
    }

    /** Reads both sections; empty if a replica has no KV but its own. */
    static Optional<KvTransferSettings> read(
            Section kvCache, EngineSettings engine, Deployment deployment, boolean isDisaggregated) {
        var specs = new ArrayList<ConnectorSpec>();
        boolean isAsync = engine.scheduler().maxStepsInFlight() > 1;
        if (isDisaggregated) {
            specs.add(new NixlSpec(true, isAsync));
        }
        var host = kvCache.section("tiers").section("host");
        var offloading = offloading(host, engine, deployment, isAsync);
        offloading.ifPresent(specs::add);
        var transfers = transfers(kvCache.section("transfer"), host, engine, deployment);
        if (specs.isEmpty()) {
            return Optional.empty();
        }
        if (offloading.isPresent()) {
            requireBlocksByContent(host, host.number("gib", 0, Double.MAX_VALUE) > 0 ? "gib" : "tokens", engine);
        } else {
            requireBlocksByContent(kvCache, "tiers", engine);
        }
        return Optional.of(new KvTransferSettings(specs.size() == 1 ? specs.get(0) : new MultiSpec(specs), transfers));
    }

    private static void requireBlocksByContent(Section section, String key, EngineSettings engine) {
        boolean isVllm = engine.scheduler() instanceof SchedulerConfig
                && engine.kvCache().isResizable()
                && engine.kvCache().sharesWithinStep();
        if (!isVllm) {
            throw section.unusable(
                    key,
                    "which, like groups with roles, need engine.kind = vllm with dedup = blocks,"
                            + " and kv-cache.sessions = off");
        }
    }

    private static Optional<OffloadingSpec> offloading(
            Section host, EngineSettings engine, Deployment deployment, boolean isAsync) {
        int blockTokens = host.wholeNumber("blocks-per-chunk", 1, MAX_BLOCKS)
                * engine.kvCache().blockSize();
        double chunkBytes = blockTokens * deployment.kvBytesPerTokenPerGpu() * deployment.tensorParallelSize();
        long numChunks = (long) Math.max(
                host.number("gib", 0, Double.MAX_VALUE) * BYTES_PER_GIB / chunkBytes,
                (double) host.wholeNumber("tokens", 0, MAX_TOKENS) / blockTokens);
        var policy = host.choice("eviction-policy", TierPolicy.class);
        int threshold = host.wholeNumber("store-threshold", 0, MAX_BLOCKS);
        int tracked = host.wholeNumber("max-tracker-size", 1, MAX_BLOCKS);
        boolean promptOnly = host.bool("offload-prompt-only");
        if (numChunks == 0) {
            return Optional.empty();
        }
        if (numChunks > MAX_BLOCKS) {
            throw host.unusable("gib", "which is room for " + numChunks + " chunks; at most " + MAX_BLOCKS);
        }
        var tier = new TierSpec((int) numChunks, policy, threshold, tracked);
        int blocksPerChunk = host.wholeNumber("blocks-per-chunk", 1, MAX_BLOCKS);
        return Optional.of(new OffloadingSpec(tier, blocksPerChunk, promptOnly, isAsync));
    }

    private static KvTransferSpec transfers(
            Section transfer, Section host, EngineSettings engine, Deployment deployment) {
        int blockSize = engine.kvCache().blockSize();
        long oneWay = bytesPerSecond(host, "bandwidth");
        var hostPorts = new PortGroup(LongList.of(oneWay, oneWay), bytesPerSecond(host, "bandwidth-both-ways"));
        long nicOneWay = bytesPerSecond(transfer, "bandwidth") * deployment.tensorParallelSize();
        var cost = new TransferCost(
                Math.round(transfer.nanos("handshake")),
                Math.round(transfer.nanos("post")),
                Math.round(transfer.nanos("per-descriptor")),
                Math.round(transfer.nanos("notify")));
        long timeoutNanos = Math.round(transfer.nanos("timeout"));
        return new KvTransferSpec(
                new LinkSpec(List.of(hostPorts), TransferCost.NONE, timeoutNanos),
                Math.round(blockSize * deployment.kvBytesPerTokenPerGpu()),
                PortGroup.of(nicOneWay, nicOneWay),
                Math.round(blockSize * deployment.kvBytesPerToken()),
                deployment.numLayers(),
                cost,
                timeoutNanos,
                new KvLease(
                        Math.max(1, Math.round(transfer.nanos("lease-duration"))), transfer.bool("lease-heartbeats")),
                transfer.choice("load-failure-policy", LoadFailurePolicy.class) == LoadFailurePolicy.FAIL,
                transfer.choice("stale-read", StaleRead.class) == StaleRead.FAIL,
                transfer.bool("notify-on-reject"));
    }

    private static long bytesPerSecond(Section section, String key) {
        return Math.max(1, Math.round(section.positive(key) * BYTES_PER_GB));
    }
}
