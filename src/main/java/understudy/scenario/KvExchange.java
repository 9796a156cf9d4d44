package understudy.scenario;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import understudy.cluster.link.KvStoreSpec;
import understudy.engine.EngineSpec;
import understudy.kvcache.connector.ConnectorSpec;
import understudy.kvcache.connector.MultiSpec;
import understudy.kvcache.connector.NixlSpec;
import understudy.kvcache.tier.TierSettings;
import understudy.settings.Section;
import understudy.transfer.KvSizes;
import understudy.transfer.KvTransferSpec;
import understudy.transfer.TransferSettings;

/**
 * Exchange of KV between a replica's GPUs and other memories: the sections {@code kv-cache.tiers} and {@code
 * kv-cache.transfer}.
 *
 * @param connector sources of KV besides the GPU, or null if the engines themselves push it
 * @param transfers how it is moved
 * @param stores memories slower than the host's, the fastest first
 */
record KvExchange(@Nullable ConnectorSpec connector, KvTransferSpec transfers, List<KvStoreSpec> stores) {

    /**
     * Reads both sections; empty if a replica has no KV but its own.
     *
     * @param hasNixl whether other replicas read from it, or it from them
     */
    static Optional<KvExchange> read(Section group, EngineSpec engine, Deployment deployment, boolean hasNixl) {
        var kvCache = group.section("kv-cache");
        var transfer = kvCache.section("transfer");
        boolean isPushed = engine.kvCache().isPushed();
        if (TransferSettings.reachesOutside(transfer) && TransferSettings.hasRooms(transfer) != isPushed) {
            throw transfer.unusable(
                    "kv-connector",
                    isPushed
                            ? "which is vLLM's; engines of " + engine.traits().family() + " have bootstrap"
                            : "which is SGLang's; engines of " + engine.traits().family() + " have nixl");
        }
        if (hasNixl && isPushed) {
            var sizes = sizes(deployment, engine.kvCache().blockSize(), 1);
            var host = kvCache.section("tiers").section("host");
            return Optional.of(new KvExchange(null, TransferSettings.read(transfer, host, sizes), List.of()));
        }
        var specs = new ArrayList<ConnectorSpec>();
        boolean isAsync = engine.traits().maxStepsInFlight() > 1;
        if (hasNixl) {
            specs.add(new NixlSpec(true, isAsync));
        }
        var tiers = kvCache.section("tiers");
        var host = tiers.section("host");
        int blockSize = engine.kvCache().blockSize();
        var settings = TierSettings.read(host, blockSize, deployment.kvBytesPerTokenPerGpu() * deployment.numGpus());
        var sizes = sizes(deployment, blockSize, settings.numBlocks());
        var stores = KvStoreSpec.read(tiers, settings, sizes.bytesPerChunk());
        var offloading = settings.host(host, isAsync, engine.kvCache().dropsLastHit(), stores.size());
        if (offloading.isEmpty() && !stores.isEmpty() && engine.kvCache().storage() == null) {
            throw tiers.unusable("host", "which needs a size, since KV goes to disk and store through it");
        }
        offloading.ifPresent(specs::add);
        var transfers = TransferSettings.read(transfer, host, sizes);
        if (specs.isEmpty()) {
            return Optional.empty();
        }
        if (offloading.isPresent()) {
            requireBlocksByContent(host, TierSettings.sizeKey(host), engine);
        } else if (kvCache.text("sessions").equals("off") && !engine.kvCache().takesConnector()) {
            throw group.section("engine")
                    .unusable(
                            "kind",
                            "which hands no KV to other replicas here; groups with roles need sglang, or vllm with dedup ="
                                    + " blocks, and kv-connector = nixl needs the latter");
        } else {
            requireBlocksByContent(kvCache, "sessions", engine);
        }
        var connector = specs.size() == 1 ? specs.get(0) : new MultiSpec(specs);
        return Optional.of(new KvExchange(connector, transfers, stores));
    }

    /** Returns the storage behind the host of a memory that moves its pages there by itself; none if it has none. */
    static List<KvStoreSpec> storage(Section kvCache, EngineSpec engine, Deployment deployment) {
        var source = engine.kvCache().storage();
        if (source == null) {
            return List.of();
        }
        int pageSize = engine.kvCache().blockSize();
        double bytesPerToken = deployment.kvBytesPerToken();
        return List.of(KvStoreSpec.ofPages(
                kvCache.section("tiers"),
                source,
                new TierSettings(1, pageSize, bytesPerToken),
                Math.round(pageSize * bytesPerToken)));
    }

    private static KvSizes sizes(Deployment deployment, int blockSize, int blocksPerChunk) {
        return new KvSizes(
                deployment.numGpus(),
                Math.round(blockSize * deployment.kvBytesPerTokenPerGpu()),
                Math.round(blockSize * deployment.kvBytesPerToken()),
                Math.round(blocksPerChunk * blockSize * deployment.kvBytesPerToken()),
                Math.round(deployment.stateBytes()),
                deployment.numLayers());
    }

    private static void requireBlocksByContent(Section section, String key, EngineSpec engine) {
        if (!engine.kvCache().takesConnector()) {
            throw section.unusable(
                    key,
                    "which, like groups with roles and kv-connector = nixl, need engine.kind = vllm with dedup ="
                            + " blocks, and kv-cache.sessions = off");
        }
    }
}
