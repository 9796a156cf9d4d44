package understudy.chaos.gateway.reference;

import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongList;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessagePackException;
import org.msgpack.value.Value;
import org.msgpack.value.ValueFactory;
import understudy.kvcache.KvEvent;
import understudy.prompt.TokenIds;

/**
 * Reads batches of KV events as vLLM and SGLang write them ({@code vllm/distributed/kv_events.py}): MessagePack, an event as
 * a map with a type or as an array that begins with it. Of several KV cache groups only the first one counts, and of the
 * places of a block only the GPU.
 */
final class KvEventDecoder {
    private static final Value TYPE = ValueFactory.newString("type");

    private KvEventDecoder() {}

    /**
     * Reads a batch.
     *
     * @throws IOException if it is something else
     */
    static KvEventBatch decode(long sequence, byte[] payload) throws IOException {
        try (var unpacker = MessagePack.newDefaultUnpacker(payload)) {
            var batch = unpacker.unpackValue().asArrayValue();
            var events = new ArrayList<KvEvent>();
            for (var event : batch.get(1).asArrayValue()) {
                var read = new Fields(event).read();
                if (read != null) {
                    events.add(read);
                }
            }
            return new KvEventBatch(sequence, batch.get(0).asNumberValue().toDouble(), events);
        } catch (MessagePackException | IndexOutOfBoundsException e) {
            throw new IOException("no batch of KV events: " + e.getMessage(), e);
        }
    }

    /** Fields of one event, by name or by place. */
    private record Fields(Value event) {
        @Nullable KvEvent read() {
            String type = field("type", 0).asStringValue().asString();
            if (type.equals("AllBlocksCleared")) {
                return new KvEvent.Cleared();
            }
            boolean isStored = type.equals("BlockStored");
            if ((!isStored && !type.equals("BlockRemoved")) || !counts(isStored)) {
                return null;
            }
            var hashes = hashes();
            if (hashes.isEmpty()) {
                return null;
            }
            return isStored ? stored(hashes) : new KvEvent.Removed(hashes);
        }

        private boolean counts(boolean isStored) {
            var medium = field("medium", isStored ? 6 : 2);
            var group = field("group_idx", isStored ? 9 : 3);
            return (medium.isNilValue() || medium.asStringValue().asString().equals("GPU"))
                    && (group.isNilValue() || group.asIntegerValue().asInt() == 0);
        }

        private KvEvent stored(LongList hashes) {
            var parent = field("parent_block_hash", 2);
            var lora = field("lora_name", 7);
            int[] tokens = field("token_ids", 3).asArrayValue().list().stream()
                    .mapToInt(token -> token.asIntegerValue().asInt())
                    .toArray();
            return new KvEvent.Stored(
                    hashes,
                    !parent.isNilValue(),
                    parent.isNilValue() ? 0 : hash(parent),
                    new TokenIds(tokens),
                    0,
                    lora.isNilValue() ? "" : lora.asStringValue().asString(),
                    "");
        }

        private LongList hashes() {
            var hashes = new LongArrayList();
            field("block_hashes", 1).asArrayValue().forEach(hash -> hashes.add(hash(hash)));
            return hashes;
        }

        /** A hash is a number, or the bytes of a digest, of which the last eight do. */
        private static long hash(Value hash) {
            if (hash.isBinaryValue()) {
                var bytes = hash.asBinaryValue().asByteArray();
                return ByteBuffer.wrap(bytes, bytes.length - Long.BYTES, Long.BYTES)
                        .getLong();
            }
            return hash.asIntegerValue().toBigInteger().longValue();
        }

        private Value field(String name, int index) {
            Value value;
            if (event.isMapValue()) {
                Map<Value, Value> fields = event.asMapValue().map();
                value = fields.get(index == 0 ? TYPE : ValueFactory.newString(name));
            } else {
                List<Value> fields = event.asArrayValue().list();
                value = index < fields.size() ? fields.get(index) : null;
            }
            return value == null ? ValueFactory.newNil() : value;
        }
    }
}
