package understudy.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.apache.pekko.actor.testkit.typed.javadsl.TestProbe;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

final class VirtualTimeTestKitTest {
    @AutoClose
    private final VirtualTimeTestKit kit = VirtualTimeTestKit.create();

    /** Sends every text on after an hour. */
    private static Behavior<String> slowEcho(ActorRef<String> to) {
        return Behaviors.withTimers(timers -> Behaviors.receiveMessage(text -> {
            if (text.startsWith("late ")) {
                to.tell(text);
            } else {
                timers.startSingleTimer("late " + text, Duration.ofHours(1));
            }
            return Behaviors.same();
        }));
    }

    @Test
    void inbox_keepsMessagesWithTheirTimes() {
        var inbox = kit.createInbox(String.class);
        var echo = kit.spawn(slowEcho(inbox.ref()), "echo");
        echo.tell("a");
        kit.advance(Duration.ofMinutes(59));
        assertThat(inbox.messages()).isEmpty();

        echo.tell("b");
        assertThat(kit.step()).isEqualTo(Duration.ofHours(1).toNanos());
        kit.advance(Duration.ofHours(1));

        assertThat(inbox.received())
                .containsExactly(
                        new VirtualTimeTestKit.Inbox.Received<>(
                                Duration.ofMinutes(60).toNanos(), "late a"),
                        new VirtualTimeTestKit.Inbox.Received<>(
                                Duration.ofMinutes(119).toNanos(), "late b"));
    }

    @Test
    void pekkosOwnProbe_worksInVirtualTime() {
        TestProbe<String> probe = TestProbe.create(String.class, kit.system());
        var echo = kit.spawn(slowEcho(probe.getRef()), "echo");

        echo.tell("a");
        kit.advance(Duration.ofMinutes(59));
        probe.expectNoMessage(Duration.ZERO);
        kit.advance(Duration.ofMinutes(1));

        probe.expectMessage("late a");
        assertThat(kit.nowNanos()).isEqualTo(Duration.ofHours(1).toNanos());
    }

    @Test
    void settle_deliversWithoutMovingTheClock() {
        var inbox = kit.createInbox(Integer.class);
        inbox.ref().tell(1);

        kit.settle();

        assertThat(inbox.messages()).containsExactly(1);
        assertThat(kit.nowNanos()).isZero();
    }
}
