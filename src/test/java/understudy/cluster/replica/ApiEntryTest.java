package understudy.cluster.replica;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.cluster.ListWorkload.request;

import java.time.Duration;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import understudy.cluster.Replica;
import understudy.engine.Request;
import understudy.latency.ApiDelay;
import understudy.testkit.VirtualTimeTestKit;

final class ApiEntryTest {
    private static final long MILLI = 1_000_000;

    @AutoClose
    private final VirtualTimeTestKit kit = VirtualTimeTestKit.create();

    private final VirtualTimeTestKit.Inbox<Replica.Command> replica = kit.createInbox(Replica.Command.class);
    private final ApiEntry entry = new ApiEntry(ApiDelay.NONE, kit.clock(), replica.ref());
    private final Request first = request(7, 0, 20, 3);
    private final Request second = request(8, 0, 20, 3);

    @Test
    void request_isEnqueuedAfterItsDelay() {
        entry.enqueueAfter(2 * MILLI, first);
        entry.enqueueAfter(MILLI, second);

        kit.advance(Duration.ofMillis(1));
        assertThat(replica.messages()).containsExactly(new Replica.Enqueue(second));
        kit.advance(Duration.ofMillis(1));
        assertThat(replica.messages()).containsExactly(new Replica.Enqueue(second), new Replica.Enqueue(first));
    }

    @Test
    void cancel_forgetsOneRequestAlone() {
        entry.enqueueAfter(MILLI, first);
        entry.enqueueAfter(MILLI, second);
        entry.cancel(first.id());
        entry.cancel(9);

        kit.advance(Duration.ofMillis(1));

        assertThat(replica.messages()).containsExactly(new Replica.Enqueue(second));
    }

    /** Its timer has gone off, and what it sent has not been looked at yet. */
    @Test
    void cancelledRequestThatIsDue_doesNotEnter() {
        entry.enqueueAfter(MILLI, first);
        entry.enqueueAfter(MILLI, second);
        kit.advance(Duration.ofMillis(1));
        entry.cancel(first.id());

        assertThat(entry.enters(first.id())).isFalse();
        assertThat(entry.enters(second.id())).isTrue();
        assertThat(entry.enters(second.id())).isFalse();
    }

    @Test
    void stop_forgetsAllRequests() {
        entry.enqueueAfter(MILLI, first);
        entry.enqueueAfter(MILLI, second);
        entry.stop();

        kit.advance(Duration.ofMillis(1));

        assertThat(replica.messages()).isEmpty();
    }
}
