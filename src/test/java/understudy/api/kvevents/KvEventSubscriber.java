package understudy.api.kvevents;

import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.msgpack.core.MessagePack;
import org.msgpack.value.Value;
import org.msgpack.value.ValueFactory;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/** Follows one replica as the indexers of the field do: live batches, and a replay for those that are missing. */
final class KvEventSubscriber implements AutoCloseable {
    private final KvEventPublisher publisher;
    private final int replica;
    private final ZContext context = new ZContext();
    private final ZMQ.Socket sub = context.createSocket(SocketType.SUB);
    private final Long2IntOpenHashMap copies = new Long2IntOpenHashMap();
    private final List<Integer> tokens = new ArrayList<>();
    private long nextSequence;
    private int numRemoved;
    private int numStored;

    KvEventSubscriber(KvEventPublisher publisher, int replica) {
        this.publisher = publisher;
        this.replica = replica;
        sub.subscribe("kv@replica-" + replica + "@");
        sub.setHandshakeIvl(KvEventSockets.HANDSHAKE_MILLIS);
        sub.connect(publisher.endpoint(replica));
    }

    /** Applies everything up to the last batch: what has come by itself, and by replay what has not. */
    void catchUp() {
        long end = publisher.numBatches(replica);
        for (byte[] topic = sub.recv(ZMQ.DONTWAIT); topic != null; topic = sub.recv(ZMQ.DONTWAIT)) {
            long sequence = ByteBuffer.wrap(sub.recv()).getLong();
            byte[] payload = sub.recv();
            if (sequence == nextSequence) {
                apply(payload);
            }
        }
        if (nextSequence < end) {
            replay();
        }
        if (nextSequence != end) {
            throw new AssertionError("got " + nextSequence + " of " + end + " batches");
        }
    }

    private void replay() {
        for (var message : ReplayClient.ask(publisher.replayEndpoint(replica), nextSequence)) {
            if (message.sequence >= 0) {
                if (message.sequence != nextSequence) {
                    throw new AssertionError("batch " + message.sequence + " instead of " + nextSequence);
                }
                apply(message.payload);
            }
        }
    }

    private void apply(byte[] payload) {
        try (var unpacker = MessagePack.newDefaultUnpacker(payload)) {
            var batch = unpacker.unpackValue().asArrayValue();
            for (var event : batch.get(1).asArrayValue()) {
                apply(event);
            }
            nextSequence++;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void apply(Value event) {
        String type = field(event, 0, "type").asStringValue().asString();
        switch (type) {
            case "BlockStored" -> {
                numStored++;
                field(event, 1, "block_hashes").asArrayValue().forEach(hash -> copies.addTo(hashOf(hash), 1));
                field(event, 3, "token_ids")
                        .asArrayValue()
                        .forEach(token -> tokens.add(token.asIntegerValue().asInt()));
            }
            case "BlockRemoved" -> {
                var hashes = field(event, 1, "block_hashes").asArrayValue();
                if (hashes.size() != 1) {
                    throw new AssertionError("one removal per hash, not " + hashes);
                }
                numRemoved++;
                copies.addTo(hashOf(hashes.get(0)), -1);
            }
            default -> copies.clear();
        }
    }

    private static Value field(Value event, int index, String name) {
        return event.isArrayValue()
                ? event.asArrayValue().get(index)
                : event.asMapValue().map().get(ValueFactory.newString(name));
    }

    private static long hashOf(Value hash) {
        return hash.asIntegerValue().toBigInteger().longValue();
    }

    /** Returns the number of events of stored blocks. */
    int numStored() {
        return numStored;
    }

    int numRemoved() {
        return numRemoved;
    }

    /** Returns all token ids of stored blocks, in the order of their events. */
    List<Integer> tokens() {
        return tokens;
    }

    /** Returns each hash as often as there are copies, in ascending order. */
    long[] sortedHashes() {
        var hashes = new LongArrayList();
        copies.long2IntEntrySet().forEach(entry -> {
            for (int i = 0; i < entry.getIntValue(); i++) {
                hashes.add(entry.getLongKey());
            }
        });
        hashes.sort(null);
        return hashes.toLongArray();
    }

    @Override
    public void close() {
        context.close();
    }
}
