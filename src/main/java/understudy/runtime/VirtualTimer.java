package understudy.runtime;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.apache.pekko.actor.Cancellable;

/**
 * One pending action of the timer heap. It may be cancelled from any thread; it fires on the loop thread.
 *
 * <p>A cancelled timer stays in the heap until it comes to the top or the heap is compacted, and never moves the clock.
 */
final class VirtualTimer implements Cancellable {
    private static final int PENDING = 0;
    private static final int FIRED = 1;
    private static final int CANCELLED = 2;
    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(VirtualTimer.class, "state", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final EventLoop loop;
    private final Runnable action;

    @SuppressWarnings("unused") // accessed through STATE
    private volatile int state;

    /** Time when it fires; written by the loop when the timer enters the heap. */
    long dueNanos;

    /** Creation order, which breaks ties between equal times. */
    long sequence;

    /** Creates a timer whose action is quick, and sends at most a message or a task. */
    VirtualTimer(EventLoop loop, Runnable action) {
        this.loop = loop;
        this.action = action;
    }

    /** Acts, unless the timer was cancelled; returns whether it did. */
    boolean fire() {
        if (!STATE.compareAndSet(this, PENDING, FIRED)) {
            return false;
        }
        action.run();
        return true;
    }

    @Override
    public boolean cancel() {
        boolean cancelled = STATE.compareAndSet(this, PENDING, CANCELLED);
        if (cancelled) {
            loop.onTimerCancelled();
        }
        return cancelled;
    }

    @Override
    public boolean isCancelled() {
        return (int) STATE.getVolatile(this) == CANCELLED;
    }
}
