package understudy.cluster.sidechannel;

import it.unimi.dsi.fastutil.HashCommon;
import it.unimi.dsi.fastutil.longs.Long2ObjectLinkedOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongOpenHashSet;
import java.util.Objects;
import org.apache.pekko.actor.typed.ActorRef;
import org.jspecify.annotations.Nullable;
import understudy.kvcache.connector.RemoteKv;

/** Requests of a replica whose KV other processes hold. */
public final class OutsideReads {
    private final @Nullable ActorRef<SideChannel.Command> channel;
    private final ActorRef<SideChannel.Answer> replyTo;
    private final Long2ObjectLinkedOpenHashMap<RemoteKv> holders = new Long2ObjectLinkedOpenHashMap<>();

    /** Requests with a word that has not been answered. */
    private final LongOpenHashSet unanswered = new LongOpenHashSet();

    /**
     * Creates the table of a replica.
     *
     * @param channel carries words to other processes; null if there are none, and none is expected to hold anything
     * @param replyTo receives the answer to each word
     */
    public OutsideReads(@Nullable ActorRef<SideChannel.Command> channel, ActorRef<SideChannel.Answer> replyTo) {
        this.channel = channel;
        this.replyTo = replyTo;
    }

    public void expect(long requestId, RemoteKv kv) {
        holders.put(requestId, kv);
    }

    /** Asks whether the KV of a request is still kept; returns whether there is a process to ask. */
    public boolean look(long requestId) {
        var kv = holders.get(requestId);
        if (kv != null) {
            tell(SideChannel.Word.LOOK, requestId, kv);
        }
        return kv != null;
    }

    /**
     * Returns the number of a process and the replica here: unlike that of any other such pair, and of any two replicas of
     * a cluster, which are not negative.
     */
    public long pairOf(long requestId, int replicaIndex) {
        var kv = holders.get(requestId);
        long engine = kv == null
                ? 0
                : HashCommon.mix((kv.engineId().hashCode() * 31L + kv.host().hashCode()) * 31 + kv.port());
        return HashCommon.mix(engine + replicaIndex) | Long.MIN_VALUE;
    }

    /** Renews all leases, but those of requests that wait for an answer: a slow process is not to be flooded. */
    public void renew() {
        for (var entry : holders.long2ObjectEntrySet()) {
            if (!unanswered.contains(entry.getLongKey())) {
                tell(SideChannel.Word.RENEW, entry.getLongKey(), entry.getValue());
            }
        }
    }

    /** Records an answer. */
    public void onAnswered(SideChannel.Answer answer) {
        unanswered.remove(answer.requestId());
    }

    /** Gives up the KV of a request, if there is any, with a word to the process that holds it. */
    public void end(long requestId) {
        var kv = holders.remove(requestId);
        if (kv != null) {
            tell(SideChannel.Word.DONE, requestId, kv);
        }
    }

    /** Gives it up without a word. */
    public void forget(long requestId) {
        holders.remove(requestId);
    }

    public boolean isEmpty() {
        return holders.isEmpty();
    }

    private void tell(SideChannel.Word word, long requestId, RemoteKv kv) {
        unanswered.add(requestId);
        Objects.requireNonNull(channel).tell(new SideChannel.Say(word, kv, requestId, replyTo));
    }
}
