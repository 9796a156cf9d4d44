package understudy.cluster.sidechannel;

import org.apache.pekko.actor.typed.ActorRef;
import understudy.kvcache.connector.RemoteKv;

/** Messages to and from the one who carries words to other processes. */
public final class SideChannel {

    /** Word about the blocks of a request. */
    public enum Word {
        /** Are they still kept? Nothing changes. */
        LOOK,
        /** They are still wanted: their lease is renewed. */
        RENEW,
        /** They were read, or are not wanted: they may go. */
        DONE
    }

    /** State of kept KV, as the other process answers. */
    public enum State {
        KEPT,
        /** The other process does not keep the blocks, or does not any more. */
        GIVEN_UP,
        /** The other process has not answered. */
        UNREACHABLE
    }

    /**
     * Message to the carrier, answered by {@link Answer} whatever happens.
     *
     * @param requestId for the answer; the number of the request that wants the blocks
     */
    public record Command(Word word, RemoteKv kv, long requestId, ActorRef<? super Answer> replyTo) {}

    /** The answer to {@link Command}; {@code state} is that before the word. */
    public record Answer(Word word, long requestId, State state) {}

    private SideChannel() {}
}
