package understudy.testkit;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.Props;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import understudy.runtime.Clock;
import understudy.runtime.VirtualTime;

/**
 * Drives actors through virtual time by hand, in any test framework. Nothing moves unless the test says so, and every
 * call returns when all its consequences have happened, so tests need neither sleeps nor time-outs.
 *
 * <pre>{@code
 * @AutoClose
 * final VirtualTimeTestKit kit = VirtualTimeTestKit.create();
 *
 * @Test
 * void deviceTakesSevenMillis() {
 *     var done = kit.createInbox(VirtualGpu.StepDone.class);
 *     var gpu = kit.spawn(ModelledGpu.create(kit.clock(), batch -> 7_000_000), "gpu");
 *
 *     gpu.tell(new VirtualGpu.ExecuteStep(batch, done.ref()));
 *     kit.advance(Duration.ofMillis(7));
 *
 *     assertThat(done.messages()).hasSize(1);
 * }
 * }</pre>
 *
 * <p>Pekko's own probes work here as well: create them with {@link #system()}, advance, then expect with no time-out.
 */
public final class VirtualTimeTestKit implements AutoCloseable {
    private final VirtualTime<Void> time = VirtualTime.create("test", clock -> Behaviors.empty());

    private int numInboxes;

    private VirtualTimeTestKit() {}

    /** Creates a kit at virtual time 0. */
    public static VirtualTimeTestKit create() {
        return new VirtualTimeTestKit();
    }

    /** Returns the clock to give to actors. */
    public Clock clock() {
        return time;
    }

    /** Returns the actor system, for instance for Pekko's {@code TestProbe}. */
    public ActorSystem<?> system() {
        return time.system();
    }

    /** Starts an actor; the name must be new to this kit. */
    public <T> ActorRef<T> spawn(Behavior<T> behavior, String name) {
        return time.system().systemActorOf(behavior, name, Props.empty());
    }

    /** Creates an address that keeps every message it gets. */
    public <T> Inbox<T> createInbox(Class<T> type) {
        return new Inbox<>(this, "inbox-" + type.getSimpleName() + "-" + numInboxes++);
    }

    /** Delivers all messages, and fires the timers that are due at this instant. */
    public void settle() {
        time.advance(Duration.ZERO);
    }

    /** Lets virtual time pass: everything due within {@code duration} happens, in order. */
    public void advance(Duration duration) {
        time.advance(duration);
    }

    /** Jumps to the next timer, lets everything of that instant happen, and returns the time in nanoseconds. */
    public long step() {
        return time.step();
    }

    public long nowNanos() {
        return time.nowNanos();
    }

    @Override
    public void close() {
        time.close();
    }

    /**
     * Address that keeps the messages that it gets, in order.
     *
     * @param <T> type of the messages
     */
    public static final class Inbox<T> {
        private final List<Received<T>> received = new CopyOnWriteArrayList<>();
        private final ActorRef<T> ref;

        private Inbox(VirtualTimeTestKit kit, String name) {
            ref = kit.spawn(Behaviors.receiveMessage(message -> keep(kit.nowNanos(), message)), name);
        }

        private Behavior<T> keep(long atNanos, T message) {
            received.add(new Received<>(atNanos, message));
            return Behaviors.same();
        }

        /** A message, and the virtual time at which it came. */
        public record Received<T>(long atNanos, T message) {}

        public ActorRef<T> ref() {
            return ref;
        }

        /** Returns everything that has come so far, with its time. */
        public List<Received<T>> received() {
            return List.copyOf(received);
        }

        /** Returns everything that has come so far. */
        public List<T> messages() {
            return received.stream().map(Received::message).toList();
        }
    }
}
