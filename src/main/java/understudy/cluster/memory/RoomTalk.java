package understudy.cluster.memory;

import java.util.Objects;
import org.apache.pekko.actor.Cancellable;
import org.apache.pekko.actor.typed.ActorRef;
import org.jspecify.annotations.Nullable;
import understudy.cluster.KvBlockManager;
import understudy.cluster.KvExchange;
import understudy.cluster.sidechannel.SideChannel;
import understudy.kvcache.connector.RemoteKv;
import understudy.runtime.Clock;
import understudy.transfer.RoomTimeouts;

/**
 * What one half of a request says to the other half in another process, which it meets in a room (SGLang {@code
 * disaggregation/common/conn.py}). The half that answers asks, and the one that computes the prompt waits to be asked.
 */
final class RoomTalk {
    /** Once so often, and no more than so many times, it is asked whether the other process is there. */
    private static final long RETRY_NANOS = 1_000_000_000;

    private static final int MAX_TRIES = 15;

    private final Line line;
    private final long requestId;
    private final RemoteKv room;
    private Cancellable overdue = Cancellable.alreadyCancelled();
    private int numTries;
    private boolean hasSaidPlaces;

    /**
     * Way to other processes, of all requests of a replica.
     *
     * @param channel carries words; null if there are no other processes, and no room is expected
     * @param memory that of the replica, which is told when something is due
     * @param onAnswer receives answers to words
     * @param onAsked receives words of other processes
     */
    record Line(
            Clock clock,
            boolean isPrefill,
            RoomTimeouts timeouts,
            @Nullable ActorRef<SideChannel.Command> channel,
            ActorRef<KvBlockManager.Command> memory,
            ActorRef<SideChannel.Answer> onAnswer,
            ActorRef<SideChannel.Asked> onAsked) {

        private void tell(SideChannel.Command command) {
            Objects.requireNonNull(channel).tell(command);
        }
    }

    private RoomTalk(Line line, long requestId, RemoteKv room) {
        this.line = line;
        this.requestId = requestId;
        this.room = room;
    }

    /** Opens the room of a request. */
    static RoomTalk open(Line line, long requestId, RemoteKv room) {
        var talk = new RoomTalk(line, requestId, room);
        if (line.isPrefill && !room.isFake()) {
            line.tell(new SideChannel.Host(room.requestId(), requestId, line.onAsked));
            talk.await(line.timeouts.bootstrapNanos());
        }
        return talk;
    }

    RemoteKv room() {
        return room;
    }

    /** Asks whether the other process is there. */
    void meet() {
        numTries++;
        say(SideChannel.Word.MEET);
    }

    /** Asks again after a while; returns whether it is worth it. */
    boolean meetAgain() {
        if (numTries == MAX_TRIES) {
            return false;
        }
        var due = new KvExchange.PushWordDue(requestId, SideChannel.Word.MEET);
        line.clock.tellAfter(RETRY_NANOS, line.memory, due);
        return true;
    }

    /** Returns why there is no handshake. */
    String unmet() {
        return "Could not fetch prefill parallel info from " + room.address() + " after " + numTries + " attempts";
    }

    /** Says, after so long, that there are places. */
    void announceAfter(long nanos) {
        line.clock.tellAfter(nanos, line.memory, new KvExchange.PushWordDue(requestId, SideChannel.Word.PLACES));
        await(line.timeouts.waitingNanos());
    }

    /** Says that there are places. */
    void announce() {
        hasSaidPlaces = true;
        say(SideChannel.Word.PLACES);
    }

    /** The other process has places, so that there is nothing more to wait for. */
    void onPlaces() {
        overdue.cancel();
    }

    /** Ends it here, well or not. */
    void close(boolean isSent) {
        overdue.cancel();
        if (room.isFake()) {
            return;
        }
        if (line.isPrefill) {
            line.tell(new SideChannel.Settle(room.requestId(), requestId, isSent));
        } else if (!isSent && hasSaidPlaces) {
            say(SideChannel.Word.GONE);
        }
    }

    /** Returns what SGLang says of a failure, but for the request's name. */
    String failure(String reason, boolean isMet) {
        String stage = line.isPrefill
                ? isMet ? "Prefill transfer failed" : "Prefill bootstrap failed"
                : isMet ? "Decode transfer failed" : "Decode handshake failed";
        String of = line.isPrefill ? "req.bootstrap_room" : "decode_req.req.bootstrap_room";
        return stage + " for request rank=0 " + of + "=" + room.requestId()
                + " with exception KVTransferError(bootstrap_room=" + room.requestId() + "): " + reason;
    }

    /** Returns why a request has failed that has waited too long. */
    String overdue(long afterNanos) {
        return "Request " + room.requestId() + " timed out after " + Math.floorDiv(afterNanos, 100_000_000L) / 10.0
                + "s in KVPoll." + (line.isPrefill ? "Bootstrapping" : "WaitingForInput");
    }

    private void await(long nanos) {
        overdue = line.clock.tellAfter(nanos, line.memory, new KvExchange.PushOverdue(requestId, nanos));
    }

    private void say(SideChannel.Word word) {
        line.tell(new SideChannel.Say(word, room, requestId, line.onAnswer));
    }
}
