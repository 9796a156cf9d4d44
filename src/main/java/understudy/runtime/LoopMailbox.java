package understudy.runtime;

import java.util.Objects;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.dispatch.Envelope;
import org.apache.pekko.dispatch.Mailbox;
import org.apache.pekko.dispatch.MessageQueue;
import org.jspecify.annotations.Nullable;

/**
 * Messages that wait for one actor, and the actor's turn, which works one of them off (NOT thread safe).
 *
 * <p>Only the loop's thread comes here; {@link LoopDispatcher} sees to that. So messages lie in a ring, and whether the
 * turn is in the loop's queue is a plain flag. Pekko's own mailbox makes an object for each message and takes three
 * atomic steps for it, each of which waits until memory has taken up all that was written before.
 */
final class LoopMailbox implements MessageQueue, Runnable {
    /** Number of slots of the first ring; few actors have more messages at once. */
    private static final int FIRST_SLOTS = 2;

    /** Number of slots that an empty ring may keep, so that a burst does not hold memory forever. */
    private static final int MAX_IDLE_SLOTS = 64;

    private static final @Nullable Envelope[] NO_SLOTS = {};

    /** Pekko's side of this mailbox, with system messages and state. */
    private @Nullable Mailbox mailbox;

    /** A power of two of slots, or none. */
    private @Nullable Envelope[] slots = NO_SLOTS;

    private int head;
    private int size;
    private boolean isReady;

    void attach(Mailbox newMailbox) {
        mailbox = newMailbox;
    }

    /** Returns whether the turn was not in the loop's queue; from now on it is taken to be there. */
    boolean becomeReady() {
        boolean becomes = !isReady;
        isReady = true;
        return becomes;
    }

    /** Takes the turn as a run of Pekko's mailbox with a throughput of one message does. */
    @Override
    public void run() {
        var own = Objects.requireNonNull(mailbox);
        try {
            if (!own.isClosed()) {
                processSystemMessages(own);
                processMessage(own);
            }
        } finally {
            isReady = false;
            own.dispatcher().registerForExecution(own, false, false);
        }
    }

    private void processMessage(Mailbox own) {
        if (own.shouldProcessMessage()) {
            var next = dequeue();
            if (next != null) {
                own.actor().invoke(next);
                processSystemMessages(own);
            }
        }
    }

    private static void processSystemMessages(Mailbox own) {
        if (own.hasSystemMessages()) {
            own.processAllSystemMessages();
        }
    }

    @Override
    public void enqueue(ActorRef receiver, Envelope envelope) {
        if (size == slots.length) {
            grow();
        }
        slots[(head + size) & (slots.length - 1)] = envelope;
        size++;
    }

    private void grow() {
        var larger = new Envelope[Math.max(FIRST_SLOTS, 2 * size)];
        int numToEnd = size - head;
        System.arraycopy(slots, head, larger, 0, numToEnd);
        System.arraycopy(slots, 0, larger, numToEnd, head);
        slots = larger;
        head = 0;
    }

    @Override
    public @Nullable Envelope dequeue() {
        if (size == 0) {
            return null;
        }
        var oldest = slots[head];
        slots[head] = null;
        head = (head + 1) & (slots.length - 1);
        size--;
        if (size == 0 && slots.length > MAX_IDLE_SLOTS) {
            slots = NO_SLOTS;
            head = 0;
        }
        return oldest;
    }

    /** Returns how many messages the ring has room for; for tests. */
    int numSlots() {
        return slots.length;
    }

    @Override
    public int numberOfMessages() {
        return size;
    }

    @Override
    public boolean hasMessages() {
        return size > 0;
    }

    @Override
    public void cleanUp(ActorRef owner, MessageQueue deadLetters) {
        for (var envelope = dequeue(); envelope != null; envelope = dequeue()) {
            deadLetters.enqueue(owner, envelope);
        }
    }
}
