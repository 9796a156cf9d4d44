package understudy.cluster.sidechannel;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import understudy.cluster.sidechannel.SideChannel.Answer;
import understudy.cluster.sidechannel.SideChannel.Command;
import understudy.cluster.sidechannel.SideChannel.Say;
import understudy.cluster.sidechannel.SideChannel.State;
import understudy.cluster.sidechannel.SideChannel.Word;
import understudy.kvcache.connector.RemoteKv;
import understudy.testkit.VirtualTimeTestKit;

/** Words to other processes: which are sent, and when. */
final class OutsideReadsTest {
    private static final RemoteKv KV = new RemoteKv("engine_dp0", "cmpl-0-00000001", "10.0.0.5", 5600);
    private static final RemoteKv OTHER = new RemoteKv("engine_dp1", "cmpl-1-00000002", "10.0.0.5", 5600);

    @AutoClose
    private final VirtualTimeTestKit kit = VirtualTimeTestKit.create();

    private final VirtualTimeTestKit.Inbox<Command> channel = kit.createInbox(Command.class);
    private final VirtualTimeTestKit.Inbox<Answer> answers = kit.createInbox(Answer.class);
    private final OutsideReads reads = new OutsideReads(channel.ref(), answers.ref());

    private List<Command> sent() {
        kit.settle();
        return channel.messages();
    }

    private Command command(Word word, RemoteKv kv, long requestId) {
        return new Say(word, kv, requestId, answers.ref());
    }

    @Test
    void renewals_waitForTheAnswerToTheWordBefore() {
        reads.expect(7, KV);
        reads.expect(8, OTHER);

        assertThat(reads.look(7)).isTrue();
        reads.renew();
        reads.renew();
        assertThat(sent()).containsExactly(command(Word.LOOK, KV, 7), command(Word.RENEW, OTHER, 8));

        reads.onAnswered(new Answer(Word.LOOK, 7, State.KEPT));
        reads.renew();
        assertThat(sent()).hasSize(3).endsWith(command(Word.RENEW, KV, 7));
    }

    @Test
    void end_isSaidOnce_andForgettingIsNot() {
        reads.expect(7, KV);
        reads.expect(8, OTHER);

        reads.end(7);
        reads.end(7);
        reads.forget(8);

        assertThat(sent()).containsExactly(command(Word.DONE, KV, 7));
        assertThat(reads.isEmpty()).isTrue();
        assertThat(reads.look(7)).isFalse();
    }

    /** The first transfer between two endpoints has the handshake, so a new process is another endpoint. */
    @Test
    void pairs_areOfOneProcessAndOneReplica() {
        reads.expect(7, KV);
        reads.expect(8, OTHER);
        reads.expect(9, KV);

        assertThat(reads.pairOf(7, 0)).isEqualTo(reads.pairOf(9, 0)).isNegative();
        assertThat(reads.pairOf(7, 0)).isNotEqualTo(reads.pairOf(8, 0)).isNotEqualTo(reads.pairOf(7, 1));
    }
}
