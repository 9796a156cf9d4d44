package understudy.cluster.sidechannel;

import org.apache.pekko.actor.typed.ActorRef;
import understudy.kvcache.connector.RemoteKv;

/** Messages to and from the one who carries words to other processes. */
public final class SideChannel {

    /** Word about the KV of a request: the first three are said about kept blocks, the others about KV that is pushed. */
    public enum Word {
        /** Are they still kept? Nothing changes. */
        LOOK,
        /** They are still wanted: their lease is renewed. */
        RENEW,
        /** They were read, or are not wanted: they may go. */
        DONE,
        /** Is the process there? */
        MEET,
        /** There are places for the KV; answered when all of it was sent, or will not be. */
        PLACES,
        /** The request has ended here; it is of no use any more to send its KV. */
        GONE
    }

    /** State of kept KV, as the other process answers. */
    public enum State {
        /** The blocks are kept, or the other process is there, or all KV was sent. */
        KEPT,
        /** The other process does not keep the blocks, or does not any more, or will not send the KV. */
        GIVEN_UP,
        /** The other process has not answered. */
        UNREACHABLE
    }

    /** Messages to the carrier. */
    public sealed interface Command permits Say, Host, Settle {}

    /**
     * Word to another process, answered by {@link Answer} whatever happens.
     *
     * @param requestId for the answer; the number of the request that wants the blocks
     */
    public record Say(Word word, RemoteKv kv, long requestId, ActorRef<? super Answer> replyTo) implements Command {}

    /** The answer to {@link Say}; {@code state} is that before the word. */
    public record Answer(Word word, long requestId, State state) {}

    /**
     * A request here computes the prompt of a room: what another process says about that room is passed on by {@link Asked}
     * until {@link Settle}.
     *
     * @param room by which both processes name the request ({@code bootstrap_room})
     */
    public record Host(String room, long requestId, ActorRef<? super Asked> replyTo) implements Command {}

    /** All KV of a room's request was sent, or will not be; the other process has its answer now. */
    public record Settle(String room, long requestId, boolean isSent) implements Command {}

    /** Word of another process about the room of a request: that it has places, or that it has given up. */
    public record Asked(Word word, long requestId) {}

    private SideChannel() {}
}
