package understudy.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.dispatch.Envelope;
import org.junit.jupiter.api.Test;

final class LoopMailboxTest {
    private static final ActorRef NOBODY = ActorRef.noSender();

    private final LoopMailbox mailbox = new LoopMailbox();

    private void enqueue(int from, int to) {
        for (int i = from; i < to; i++) {
            mailbox.enqueue(NOBODY, new Envelope(i, NOBODY));
        }
    }

    private List<Object> dequeue(int count) {
        var messages = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            messages.add(mailbox.dequeue().message());
        }
        return messages;
    }

    @Test
    void emptyMailbox_hasNoMessageAndNoSlots() {
        assertThat(mailbox.hasMessages()).isFalse();
        assertThat(mailbox.dequeue()).isNull();
        assertThat(mailbox.numSlots()).isZero();
    }

    @Test
    void messages_comeInTheOrderOfTheirArrival() {
        enqueue(0, 5);

        assertThat(mailbox.numberOfMessages()).isEqualTo(5);
        assertThat(dequeue(5)).containsExactly(0, 1, 2, 3, 4);
        assertThat(mailbox.hasMessages()).isFalse();
        assertThat(mailbox.dequeue()).isNull();
    }

    /** With never more than two messages, a hundred go around two slots fifty times. */
    @Test
    void ringThatIsLargeEnough_wrapsAroundWithoutGrowing() {
        enqueue(0, 1);
        for (int i = 1; i < 100; i++) {
            enqueue(i, i + 1);
            assertThat(dequeue(1)).containsExactly(i - 1);
        }

        assertThat(mailbox.numSlots()).isEqualTo(2);
        assertThat(dequeue(1)).containsExactly(99);
    }

    /** Three of four are taken and three more come, so the oldest is in the last slot; two more make the ring grow. */
    @Test
    void ringThatGrowsWhileItWraps_keepsTheOrder() {
        enqueue(0, 4);
        assertThat(dequeue(3)).containsExactly(0, 1, 2);
        enqueue(4, 7);
        assertThat(mailbox.numSlots()).isEqualTo(4);

        enqueue(7, 9);

        assertThat(mailbox.numSlots()).isEqualTo(8);
        assertThat(dequeue(6)).containsExactly(3, 4, 5, 6, 7, 8);
    }

    /** 64 messages fit into 64 slots, which may stay; 65 need 128, which go with the last message. */
    @Test
    void burst_holdsNoMemoryOnceItIsOver() {
        enqueue(0, 64);
        dequeue(64);
        assertThat(mailbox.numSlots()).isEqualTo(64);

        enqueue(0, 65);
        assertThat(mailbox.numSlots()).isEqualTo(128);
        dequeue(64);
        assertThat(mailbox.numSlots()).isEqualTo(128);
        assertThat(dequeue(1)).containsExactly(64);

        assertThat(mailbox.numSlots()).isZero();
        enqueue(7, 8);
        assertThat(dequeue(1)).containsExactly(7);
    }

    @Test
    void cleanUp_movesWhatIsLeftInOrder() {
        enqueue(0, 3);
        var deadLetters = new LoopMailbox();

        mailbox.cleanUp(NOBODY, deadLetters);

        assertThat(mailbox.hasMessages()).isFalse();
        assertThat(deadLetters.numberOfMessages()).isEqualTo(3);
        assertThat(deadLetters.dequeue().message()).isEqualTo(0);
    }

    @Test
    void turn_isReadyOnceUntilItIsTaken() {
        assertThat(mailbox.becomeReady()).isTrue();
        assertThat(mailbox.becomeReady()).isFalse();
    }
}
