package understudy.engine;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import org.jspecify.annotations.Nullable;
import understudy.engine.Hardware.KvRoom;
import understudy.engine.speculation.SyntheticDrafts;
import understudy.kvcache.KvCache;
import understudy.kvcache.KvCacheSpec;
import understudy.kvcache.connector.ConnectorSpec;
import understudy.latency.LatencyModel;
import understudy.prompt.BlockHasher;

/** Engine with its settings. A value: it makes any number of engines, and of their memories. */
public interface EngineSpec {

    /** Creates an engine without requests. */
    Engine createEngine();

    /** Creates the empty memory of an engine. */
    KvCache createMemory();

    /** Returns its limits and features, as others need to know them. */
    EngineTraits traits();

    /** Returns the longest request that its replicas take, and the treatment of longer ones. */
    RequestLimits limits();

    /** Returns sizes and kind of its memory. */
    KvCacheSpec kvCache();

    /** Returns the same engine, whose memory exchanges KV with others, or with null does not. */
    default EngineSpec withConnector(@Nullable ConnectorSpec connector) {
        if (connector == null) {
            return this;
        }
        throw new UnsupportedOperationException(traits().family() + " exchanges no KV");
    }

    /**
     * Returns the same engine in a role, in which it computes prompts only or answers only; to be asked for where {@link
     * KvCacheSpec#isPushed}.
     */
    default EngineSpec withRole(boolean isPrefill) {
        throw new UnsupportedOperationException(traits().family() + " pushes no KV");
    }

    /**
     * Returns the same engine, whose memory tells of what it caches in blocks of such a hasher, so that it can be compared with
     * that of other engines; or this one unless {@link KvCacheSpec#tellsOfAnyBlocks}.
     */
    default EngineSpec comparedBy(BlockHasher hasher) {
        return this;
    }

    /** Returns how long a step takes, given how long it does without the features of the engine. */
    default LatencyModel latency(LatencyModel plain) {
        return plain;
    }

    /** Returns the drafts that its device makes, or null if it makes none. */
    default SyntheticDrafts.@Nullable Spec drafts() {
        return null;
    }

    /** Returns how its replicas plan their turns where they step together. */
    default RankRules rankRules() {
        return RankRules.NONE;
    }

    /** Returns the paths by name of the adapters that a server has from its start. */
    default Map<String, String> loraModules() {
        return Map.of();
    }

    /** Returns the room of its KV blocks; {@link KvRoom#GIVEN} if their number does not follow from the hardware. */
    default KvRoom room() {
        return KvRoom.GIVEN;
    }

    /** Returns the size of its memory in words, under the setting that gives it. */
    default String memorySize() {
        return "kv-cache.num-gpu-blocks " + kvCache().numGpuBlocks() + ", "
                + kvCache().maxTokens() + " tokens";
    }

    /** Returns the share of a GPU's memory for weights and KV, or empty if it is vLLM's. */
    default OptionalDouble memoryShare() {
        return OptionalDouble.empty();
    }

    /** Returns the format of the states of linear attention, in vLLM's words; {@code auto} if it is that of all else. */
    default String stateDtype() {
        return "auto";
    }

    /** Returns the values of settings that a scenario may leave open, by their keys. */
    default Map<String, Object> resolved() {
        var values = new LinkedHashMap<String, Object>();
        values.put("engine.max-num-seqs", traits().maxNumSeqs());
        values.put("engine.max-model-len", kvCache().maxModelLen());
        values.put("kv-cache.num-gpu-blocks", kvCache().numGpuBlocks());
        return values;
    }

    /** Returns what the engine does, and is left out here, with the settings and the model that it has; a line each. */
    default List<String> warnings() {
        return List.of();
    }

    /** Returns the settings that {@code /server_info} shows of the engine, by section, under the family's own names. */
    default Map<String, Map<String, Object>> describe() {
        var cache = new LinkedHashMap<String, Object>();
        cache.put("block_size", kvCache().blockSize());
        cache.put("num_gpu_blocks", kvCache().numGpuBlocks());
        cache.put("enable_prefix_caching", kvCache().enablePrefixCaching());
        var scheduler = new LinkedHashMap<String, Object>();
        scheduler.put("max_num_seqs", traits().maxNumSeqs());
        scheduler.put("max_num_batched_tokens", traits().maxNumBatchedTokens());
        var sections = new LinkedHashMap<String, Map<String, Object>>();
        sections.put("cache_config", cache);
        sections.put("scheduler_config", scheduler);
        sections.put("parallel_config", new LinkedHashMap<>());
        return sections;
    }
}
