package understudy.chaos.proxy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessageTypeException;
import org.msgpack.value.Value;
import org.msgpack.value.ValueFactory;

/**
 * Turns batches of KV events into those of an engine whose blocks have twice as many tokens: two blocks that follow each
 * other become one, with the hash of the second. A first one that has no second yet is not told of. Not thread safe.
 */
final class DoubledBlocks {
    /** First blocks of pairs that are remembered; a pair whose first one is forgotten is not told of. */
    private static final int MAX_FIRST = 100_000;

    private static final String TYPE = "type";
    private static final String HASHES = "block_hashes";
    private static final String PARENT = "parent_block_hash";
    private static final String TOKENS = "token_ids";
    private static final String BLOCK_SIZE = "block_size";
    private static final String EXTRA_KEYS = "extra_keys";

    /** Where the array form has what it does not name; the fields behind stay as they are. */
    private static final List<String> NAMES =
            List.of(TYPE, HASHES, PARENT, TOKENS, BLOCK_SIZE, "lora_id", "medium", "lora_name", EXTRA_KEYS);

    private final Map<Value, First> firstByHash = new LinkedHashMap<>();

    /** A block that is the first one of its pair: the pair's parent, and its own tokens. */
    private record First(Value parent, List<Value> tokens) {}

    /**
     * Returns the payload of a batch.
     *
     * @throws IOException if it is no MessagePack
     * @throws MessageTypeException if it is no batch of events
     */
    byte[] doubled(byte[] payload) throws IOException {
        try (var unpacker = MessagePack.newDefaultUnpacker(payload);
                var packer = MessagePack.newDefaultBufferPacker()) {
            var batch = new ArrayList<>(unpacker.unpackValue().asArrayValue().list());
            var events = new ArrayList<Value>();
            for (var event : batch.get(1).asArrayValue()) {
                add(event, events);
            }
            batch.set(1, ValueFactory.newArray(events));
            packer.packValue(ValueFactory.newArray(batch));
            return packer.toByteArray();
        }
    }

    private void add(Value event, List<Value> events) {
        var fields = fields(event);
        switch (text(field(fields, TYPE))) {
            case "BlockStored" -> {
                if (store(fields)) {
                    events.add(event(fields, event));
                }
            }
            case "BlockRemoved" -> {
                if (remove(fields)) {
                    events.add(event(fields, event));
                }
            }
            default -> {
                firstByHash.clear();
                events.add(event);
            }
        }
    }

    private static String text(Value value) {
        return value.asStringValue().asString();
    }

    /** Keeps of what was stored the pairs that are whole; returns whether there are any. */
    private boolean store(Map<String, Value> fields) {
        int blockSize = field(fields, BLOCK_SIZE).asIntegerValue().asInt();
        var tokens = field(fields, TOKENS).asArrayValue().list();
        var extraKeys = fields.get(EXTRA_KEYS);
        var previous = field(fields, PARENT);
        var hashes = new ArrayList<Value>();
        var pairTokens = new ArrayList<Value>();
        var pairKeys = new ArrayList<Value>();
        var all = field(fields, HASHES).asArrayValue().list();
        for (int i = 0; i < all.size() && (i + 1) * blockSize <= tokens.size(); i++) {
            var own = tokens.subList(i * blockSize, (i + 1) * blockSize);
            var first = firstByHash.get(previous);
            if (first == null) {
                remember(all.get(i), new First(previous, List.copyOf(own)));
            } else {
                if (hashes.isEmpty()) {
                    fields.put(PARENT, first.parent);
                }
                hashes.add(all.get(i));
                pairTokens.addAll(first.tokens);
                pairTokens.addAll(own);
                if (extraKeys != null && extraKeys.isArrayValue()) {
                    pairKeys.add(extraKeys.asArrayValue().get(i));
                }
            }
            previous = all.get(i);
        }
        fields.put(HASHES, ValueFactory.newArray(hashes));
        fields.put(TOKENS, ValueFactory.newArray(pairTokens));
        fields.put(BLOCK_SIZE, ValueFactory.newInteger(2 * blockSize));
        if (extraKeys != null && extraKeys.isArrayValue()) {
            fields.put(EXTRA_KEYS, ValueFactory.newArray(pairKeys));
        }
        return !hashes.isEmpty();
    }

    private void remember(Value hash, First first) {
        if (firstByHash.size() == MAX_FIRST) {
            firstByHash.remove(firstByHash.keySet().iterator().next());
        }
        firstByHash.put(hash, first);
    }

    /** Keeps of what was removed what was told of; returns whether there is any. */
    private boolean remove(Map<String, Value> fields) {
        var told = new ArrayList<Value>();
        for (var hash : field(fields, HASHES).asArrayValue()) {
            if (firstByHash.remove(hash) == null) {
                told.add(hash);
            }
        }
        fields.put(HASHES, ValueFactory.newArray(told));
        return !told.isEmpty();
    }

    private static Value field(Map<String, Value> fields, String name) {
        var value = fields.get(name);
        if (value == null) {
            throw new MessageTypeException("an event without " + name);
        }
        return value;
    }

    private static Map<String, Value> fields(Value event) {
        var fields = new LinkedHashMap<String, Value>();
        if (event.isMapValue()) {
            event.asMapValue().map().forEach((key, value) -> fields.put(text(key), value));
        } else {
            for (var value : event.asArrayValue()) {
                int index = fields.size();
                fields.put(index < NAMES.size() ? NAMES.get(index) : String.valueOf(index), value);
            }
        }
        return fields;
    }

    private static Value event(Map<String, Value> fields, Value formOf) {
        if (formOf.isArrayValue()) {
            return ValueFactory.newArray(List.copyOf(fields.values()));
        }
        var map = new LinkedHashMap<Value, Value>();
        fields.forEach((key, value) -> map.put(ValueFactory.newString(key), value));
        return ValueFactory.newMap(map);
    }
}
