package understudy.cluster;

import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongList;
import it.unimi.dsi.fastutil.longs.LongLists;
import java.util.List;
import java.util.Objects;
import org.apache.pekko.actor.typed.ActorRef;
import understudy.engine.EngineRequest;

/** Who waits for which request on a replica, and what they want to hear. */
final class ClientTable {
    private final Long2ObjectOpenHashMap<Client> byRequest = new Long2ObjectOpenHashMap<>();
    private final boolean keepsTokenTimes;
    private int numStreaming;

    ClientTable(boolean keepsTokenTimes) {
        this.keepsTokenTimes = keepsTokenTimes;
    }

    /** A sender, and the times of the tokens it got if they are kept. */
    private record Client(ActorRef<? super RequestEvent> replyTo, boolean isStreaming, LongList tokenNanos) {}

    void add(long requestId, ActorRef<? super RequestEvent> replyTo, boolean isStreaming) {
        LongList tokenNanos = keepsTokenTimes ? new LongArrayList() : LongLists.EMPTY_LIST;
        byRequest.put(requestId, new Client(replyTo, isStreaming, tokenNanos));
        numStreaming += isStreaming ? 1 : 0;
    }

    int size() {
        return byRequest.size();
    }

    /** Tells streaming senders of their tokens. Costs nothing when nobody streams and no times are kept. */
    void onSampled(List<EngineRequest> sampled, long atNanos) {
        if (numStreaming == 0 && !keepsTokenTimes) {
            return;
        }
        for (var request : sampled) {
            var client = clientOf(request.request().id());
            if (client.isStreaming) {
                client.replyTo.tell(new RequestEvent.Token(request.request().id(), request.numOutputTokens(), atNanos));
            }
            if (keepsTokenTimes) {
                client.tokenNanos.add(atNanos);
            }
        }
    }

    /** Tells a sender that its request is over, and returns the times of its tokens, or none if they are not kept. */
    LongList remove(EngineRequest request) {
        long id = request.request().id();
        var client = clientOf(id);
        byRequest.remove(id);
        numStreaming -= client.isStreaming ? 1 : 0;
        client.replyTo.tell(new RequestEvent.Finished(
                id,
                Objects.requireNonNull(request.finishReason()),
                request.numCachedTokens(),
                request.numOutputTokens(),
                request.lastTokenNanos()));
        return client.tokenNanos;
    }

    private Client clientOf(long requestId) {
        return Objects.requireNonNull(byRequest.get(requestId), () -> "nobody waits for request " + requestId);
    }
}
