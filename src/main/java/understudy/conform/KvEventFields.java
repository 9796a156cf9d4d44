package understudy.conform;

import it.unimi.dsi.fastutil.longs.LongList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import understudy.kvcache.KvEvent;
import understudy.kvcache.KvGroup.Kind;

/** KV events as recordings hold them: a map for each that vLLM publishes, hashes as the low 64 bits. */
final class KvEventFields {
    private KvEventFields() {}

    /** @param blockSize tokens per block where there is only one group */
    static List<Object> of(List<KvEvent> events, int blockSize) {
        var all = new ArrayList<Object>();
        for (var event : events) {
            if (event instanceof KvEvent.Stored stored) {
                all.add(stored(stored, blockSize));
            } else if (event instanceof KvEvent.Removed removed) {
                removed.blockHashes().forEach(hash -> all.add(removed(LongList.of(hash), "GPU", removed.groupIndex())));
            } else if (event instanceof KvEvent.HostStored stored) {
                stored.keys().forEach(key -> all.add(stored(LongList.of(key), "CPU", 0, 0)));
            } else if (event instanceof KvEvent.HostRemoved removed) {
                all.add(removed(removed.keys(), "CPU", 0));
            }
        }
        return all;
    }

    private static Map<String, @Nullable Object> stored(KvEvent.Stored event, int blockSize) {
        var range = event.range();
        int size = range == null ? blockSize : range.group().blockSize();
        int numTokens = range == null ? event.blockHashes().size() * size : range.numTokens();
        var fields = stored(event.blockHashes(), "GPU", size, range == null ? 0 : range.index());
        var tokens = new int[numTokens];
        event.tokens().copy(event.firstToken(), numTokens, tokens, 0);
        fields.put("token_ids", Arrays.stream(tokens).boxed().toList());
        fields.put("parent_block_hash", event.hasParent() ? event.parentHash() : null);
        boolean hasLora = !event.loraName().isEmpty();
        fields.put("lora_name", hasLora ? event.loraName() : null);
        if (!event.blockHashes().isEmpty()) {
            Object extraKeys = hasLora ? List.of(event.loraName()) : null;
            fields.put("extra_keys", Collections.nCopies(event.blockHashes().size(), extraKeys));
        }
        var kind = range == null ? Kind.FULL_ATTENTION : range.group().kind();
        fields.put("kv_cache_spec_kind", kind.vllmName());
        if (range != null && kind == Kind.SLIDING_WINDOW) {
            fields.put("kv_cache_spec_sliding_window", range.group().span());
        }
        return fields;
    }

    private static Map<String, @Nullable Object> stored(LongList hashes, String medium, int blockSize, int group) {
        var fields = removed(hashes, medium, group);
        fields.put("type", "BlockStored");
        fields.put("parent_block_hash", null);
        fields.put("token_ids", List.of());
        fields.put("block_size", blockSize);
        fields.put("lora_name", null);
        return fields;
    }

    private static Map<String, @Nullable Object> removed(LongList hashes, String medium, int group) {
        var fields = new LinkedHashMap<String, @Nullable Object>();
        fields.put("type", "BlockRemoved");
        fields.put("block_hashes", List.copyOf(hashes));
        fields.put("medium", medium);
        fields.put("group_idx", group);
        return fields;
    }
}
