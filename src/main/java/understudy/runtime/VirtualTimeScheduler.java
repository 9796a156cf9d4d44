package understudy.runtime;

import com.typesafe.config.Config;
import java.util.Objects;
import java.util.concurrent.ThreadFactory;
import org.apache.pekko.actor.AbstractScheduler;
import org.apache.pekko.actor.Cancellable;
import org.apache.pekko.actor.Scheduler;
import org.apache.pekko.event.LoggingAdapter;
import org.jspecify.annotations.Nullable;
import scala.concurrent.ExecutionContext;
import scala.concurrent.duration.FiniteDuration;

/**
 * Pekko's scheduler in virtual time: every delay becomes a timer of the emulation's {@link EventLoop}.
 *
 * <p>Pekko creates it by name from {@code pekko.scheduler.implementation}, inside the call that creates the actor
 * system; that is why the loop is handed over in a thread-local.
 */
public final class VirtualTimeScheduler extends AbstractScheduler {
    private static final ThreadLocal<@Nullable EventLoop> LOOP_OF_NEW_SYSTEM = new ThreadLocal<>();

    private final EventLoop loop;

    /** Called by Pekko, which fixes the parameters. */
    public VirtualTimeScheduler(Config config, LoggingAdapter log, ThreadFactory threadFactory) {
        loop = Objects.requireNonNull(
                LOOP_OF_NEW_SYSTEM.get(), "this scheduler serves only actor systems created by VirtualTime");
    }

    /** Sets the loop for schedulers created on this thread; null ends it. */
    static void setLoopOfNewSystem(@Nullable EventLoop loop) {
        LOOP_OF_NEW_SYSTEM.set(loop);
    }

    /** Returns the loop of the actor system that a scheduler of this class belongs to. */
    static EventLoop loopOf(Scheduler scheduler) {
        return ((VirtualTimeScheduler) scheduler).loop;
    }

    @Override
    public Cancellable scheduleOnce(FiniteDuration delay, Runnable action, ExecutionContext executor) {
        var timer = new VirtualTimer(loop, () -> executor.execute(action));
        loop.schedule(timer, delay.toNanos());
        return timer;
    }

    /**
     * Refuses, since only fixed-rate timers come here: when the clock jumps, "catching up on missed ticks" has no
     * meaning.
     */
    @Override
    @SuppressWarnings("deprecation")
    public Cancellable schedule(
            FiniteDuration initialDelay, FiniteDuration interval, Runnable action, ExecutionContext executor) {
        throw new UnsupportedOperationException("fixed-rate timers are not supported in virtual time; use"
                + " startTimerWithFixedDelay, or a single timer that is set again");
    }

    /** The clock has a resolution of one nanosecond. */
    @Override
    public double maxFrequency() {
        return 1e9;
    }
}
