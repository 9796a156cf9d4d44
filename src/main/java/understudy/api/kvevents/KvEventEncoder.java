package understudy.api.kvevents;

import it.unimi.dsi.fastutil.longs.LongList;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.util.HashMap;
import java.util.Map;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;
import understudy.kvcache.KvEvent;
import understudy.kvcache.KvGroup;

/**
 * Writes batches of KV events as vLLM does ({@code vllm/distributed/kv_events.py}): an array of time stamp, events and
 * data-parallel rank. Hashes are the low 64 bits of the block hash, unsigned. {@code lora_id} counts adapters as their
 * blocks come, from 1; vLLM counts them as they are loaded.
 */
final class KvEventEncoder {
    private static final String MEDIUM = "GPU";
    private static final String HOST_MEDIUM = "CPU";
    private static final KvGroup.Kind FULL = KvGroup.Kind.FULL_ATTENTION;
    private static final int FIRST_GROUP = 0;

    private final boolean asMaps;
    private final double epochSeconds;
    private final Map<String, Integer> loraIds = new HashMap<>();
    private final MessageBufferPacker out = MessagePack.newDefaultBufferPacker();

    /**
     * Creates an encoder.
     *
     * @param epochSeconds the time stamp of virtual time 0
     */
    KvEventEncoder(KvEventSettings.Format format, double epochSeconds) {
        asMaps = format == KvEventSettings.Format.MAP;
        this.epochSeconds = epochSeconds;
    }

    /** Returns the bytes of a batch; the replica counts as the data-parallel rank of its index. */
    byte[] encode(KvEventBatch batch) {
        out.clear();
        try {
            out.packArrayHeader(3);
            out.packDouble(epochSeconds + batch.atNanos() / 1e9);
            out.packArrayHeader(numEvents(batch));
            for (var event : batch.events()) {
                write(event, batch.blockSize());
            }
            out.packInt(batch.replicaIndex());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return out.toByteArray();
    }

    /** A run of removals is one event here, and one for each hash in vLLM. */
    private static int numEvents(KvEventBatch batch) {
        int count = 0;
        for (var event : batch.events()) {
            count += numEvents(event);
        }
        return count;
    }

    private static int numEvents(KvEvent event) {
        if (event instanceof KvEvent.StoredEach each) {
            return each.blockHashes().size();
        }
        if (event instanceof KvEvent.Removed removed) {
            return removed.blockHashes().size();
        }
        return event instanceof KvEvent.HostStored stored ? stored.keys().size() : 1;
    }

    private void write(KvEvent event, int blockSize) throws IOException {
        if (event instanceof KvEvent.Stored stored) {
            writeStored(stored, blockSize);
        } else if (event instanceof KvEvent.StoredEach each) {
            for (int i = 0; i < each.blockHashes().size(); i++) {
                writeStored(each.block(i, blockSize), blockSize);
            }
        } else if (event instanceof KvEvent.Removed removed) {
            for (int i = 0; i < removed.blockHashes().size(); i++) {
                writeRemoved(LongList.of(removed.blockHashes().getLong(i)), MEDIUM, removed.groupIndex());
            }
        } else if (event instanceof KvEvent.HostStored stored) {
            for (int i = 0; i < stored.keys().size(); i++) {
                writeHostStored(stored.keys().getLong(i));
            }
        } else if (event instanceof KvEvent.HostRemoved removed) {
            writeRemoved(removed.keys(), HOST_MEDIUM, FIRST_GROUP);
        } else {
            writeHeader("AllBlocksCleared", 0);
        }
    }

    private void writeStored(KvEvent.Stored stored, int blockSizeOfAll) throws IOException {
        var range = stored.range();
        var kind = range == null ? FULL : range.group().kind();
        int blockSize = range == null ? blockSizeOfAll : range.group().blockSize();
        boolean hasWindow = kind == KvGroup.Kind.SLIDING_WINDOW;
        boolean hasBlocks = !stored.blockHashes().isEmpty();
        // The array form names no fields, so it has those that are nil, too.
        writeHeader("BlockStored", asMaps ? 9 + (hasBlocks ? 1 : 0) + (hasWindow ? 1 : 0) : 11);
        writeKey("block_hashes");
        writeHashes(stored.blockHashes());
        writeKey("parent_block_hash");
        if (stored.hasParent()) {
            writeHash(stored.parentHash());
        } else {
            out.packNil();
        }
        writeKey("token_ids");
        writeTokens(stored, range == null ? stored.blockHashes().size() * blockSize : range.numTokens());
        writeKey("block_size");
        out.packInt(blockSize);
        writeKey("lora_id");
        writeLoraId(stored.loraName());
        writeKey("medium");
        out.packString(MEDIUM);
        writeKey("lora_name");
        writeTextOrNil(stored.loraName());
        if (hasBlocks) {
            writeKey("extra_keys");
            writeExtraKeys(stored);
        } else if (!asMaps) {
            out.packNil();
        }
        writeKey("group_idx");
        out.packInt(range == null ? FIRST_GROUP : range.index());
        writeKey("kv_cache_spec_kind");
        out.packString(kind.vllmName());
        if (range != null && hasWindow) {
            writeKey("kv_cache_spec_sliding_window");
            out.packInt(range.group().span());
        } else if (!asMaps) {
            out.packNil();
        }
    }

    /** Neither tokens nor parent: vLLM's connector does not say them. */
    private void writeHostStored(long key) throws IOException {
        writeHeader("BlockStored", asMaps ? 8 : 11);
        writeKey("block_hashes");
        writeHashes(LongList.of(key));
        writeKey("parent_block_hash");
        out.packNil();
        writeKey("token_ids");
        out.packArrayHeader(0);
        writeKey("block_size");
        out.packInt(0);
        writeKey("lora_id");
        out.packNil();
        writeKey("medium");
        out.packString(HOST_MEDIUM);
        writeKey("lora_name");
        out.packNil();
        if (!asMaps) {
            out.packNil();
        }
        writeKey("group_idx");
        out.packInt(FIRST_GROUP);
        if (!asMaps) {
            out.packNil();
            out.packNil();
        }
    }

    private void writeRemoved(LongList hashes, String medium, int group) throws IOException {
        writeHeader("BlockRemoved", 3);
        writeKey("block_hashes");
        writeHashes(hashes);
        writeKey("medium");
        out.packString(medium);
        writeKey("group_idx");
        out.packInt(group);
    }

    private void writeHeader(String type, int numFields) throws IOException {
        if (asMaps) {
            out.packMapHeader(numFields + 1);
            out.packString("type");
        } else {
            out.packArrayHeader(numFields + 1);
        }
        out.packString(type);
    }

    private void writeKey(String key) throws IOException {
        if (asMaps) {
            out.packString(key);
        }
    }

    private void writeHashes(LongList hashes) throws IOException {
        out.packArrayHeader(hashes.size());
        for (int i = 0; i < hashes.size(); i++) {
            writeHash(hashes.getLong(i));
        }
    }

    private void writeHash(long hash) throws IOException {
        if (hash >= 0) {
            out.packLong(hash);
        } else {
            out.packBigInteger(new BigInteger(Long.toUnsignedString(hash)));
        }
    }

    private void writeTokens(KvEvent.Stored stored, int count) throws IOException {
        var ids = new int[count];
        stored.tokens().copy(stored.firstToken(), ids.length, ids, 0);
        out.packArrayHeader(ids.length);
        for (int id : ids) {
            out.packInt(id);
        }
    }

    /** One entry per block: nil, or the keys that the block's hash covers besides tokens and parent. */
    private void writeExtraKeys(KvEvent.Stored stored) throws IOException {
        boolean hasLora = !stored.loraName().isEmpty();
        out.packArrayHeader(stored.blockHashes().size());
        for (int i = 0; i < stored.blockHashes().size(); i++) {
            boolean isSalted =
                    i == 0 && !stored.hasParent() && !stored.cacheSalt().isEmpty();
            int numKeys = (hasLora ? 1 : 0) + (isSalted ? 1 : 0);
            if (numKeys == 0) {
                out.packNil();
                continue;
            }
            out.packArrayHeader(numKeys);
            if (hasLora) {
                out.packString(stored.loraName());
            }
            if (isSalted) {
                out.packString(stored.cacheSalt());
            }
        }
    }

    private void writeLoraId(String name) throws IOException {
        if (name.isEmpty()) {
            out.packNil();
        } else {
            out.packInt(loraIds.computeIfAbsent(name, unknown -> loraIds.size() + 1));
        }
    }

    private void writeTextOrNil(String text) throws IOException {
        if (text.isEmpty()) {
            out.packNil();
        } else {
            out.packString(text);
        }
    }
}
