package understudy.runtime;

import com.typesafe.config.ConfigFactory;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.HdrHistogram.Histogram;
import org.apache.pekko.Version;
import org.apache.pekko.actor.BootstrapSetup;
import org.apache.pekko.actor.Cancellable;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.Behavior;
import org.slf4j.LoggerFactory;
import scala.concurrent.ExecutionContext;

/**
 * An actor system that runs on one thread in virtual time.
 *
 * <p>Created paused, at time 0: messages are delivered, timers wait. {@link #run} lets the clock go, by jumps or paced
 * by the wall clock; {@link #advance} and {@link #step} drive it by hand. Actors cannot tell the difference.
 *
 * <p>Never {@code ask} an actor in here from outside while the clock jumps: the time-out would be virtual. Use
 * {@code tell} and a time-out of your own.
 *
 * @param <T> type of the guardian's messages
 */
public final class VirtualTime<T> implements Clock, AutoCloseable {
    private final EventLoop loop;
    private final Histogram lateness = new Histogram(3);
    private final ActorSystem<T> system;

    private VirtualTime(String name, Function<Clock, ? extends Behavior<T>> guardian) {
        LoggerFactory.getLogger(VirtualTime.class);
        loop = new EventLoop(name);
        loop.start();
        var setup = BootstrapSetup.create(ConfigFactory.parseMap(Map.of("pekko.version", Version.current())))
                .withClassloader(EmulationClassLoader.INSTANCE)
                .withDefaultExecutionContext(new LoopExecutionContext(loop));
        VirtualTimeScheduler.setLoopOfNewSystem(loop);
        try {
            system = ActorSystem.create(guardian.apply(this), name, setup);
        } finally {
            VirtualTimeScheduler.setLoopOfNewSystem(null);
        }
    }

    /**
     * Creates a paused actor system.
     *
     * @param name of the system and of its thread
     * @param guardian makes the first actor, from the clock that it and its children are to use
     */
    public static <T> VirtualTime<T> create(String name, Function<Clock, ? extends Behavior<T>> guardian) {
        return new VirtualTime<>(name, guardian);
    }

    /** Returns the actor system, which is also the guardian's address. */
    public ActorSystem<T> system() {
        return system;
    }

    @Override
    public long nowNanos() {
        return loop.nowNanos();
    }

    @Override
    public boolean isInstantOver() {
        return loop.isInstantOver();
    }

    @Override
    public <M> Cancellable tellAfter(long delayNanos, ActorRef<? super M> receiver, M message) {
        var timer = new VirtualTimer(loop, () -> receiver.tell(message));
        loop.schedule(timer, delayNanos);
        return timer;
    }

    /**
     * Returns how fast the clock moves, in virtual seconds per wall second: 0 while it is paused, infinite if it jumps.
     */
    public double speed() {
        return loop.speed();
    }

    /**
     * Lets the clock move.
     *
     * @param speed virtual seconds per wall second, above 0; {@link Double#POSITIVE_INFINITY} jumps from timer to timer
     */
    public void run(double speed) {
        loop.resume(speed);
    }

    /** Stops the clock; messages are still delivered, timers wait. {@link #run} goes on from there. */
    public void pause() {
        loop.pause();
    }

    /**
     * Stops the clock, runs everything due within the next {@code duration} without pacing, and waits for it.
     *
     * @throws IllegalArgumentException if that is later than 100 years after the start
     */
    public void advance(Duration duration) {
        requireOutside("advance");
        loop.runUntil(after(nowNanos(), duration)).join();
    }

    private static long after(long nowNanos, Duration duration) {
        requireBeforeEnd(nowNanos, duration);
        return nowNanos + duration.toNanos();
    }

    /** Refuses a time that begins now if virtual time, which lasts for 100 years, ends before it. */
    public static void requireBeforeEnd(long nowNanos, Duration duration) {
        if (duration.compareTo(Duration.ofNanos(Pace.END_NANOS - nowNanos)) > 0) {
            throw new IllegalArgumentException("virtual time ends after 100 years; it is " + Duration.ofNanos(nowNanos)
                    + ", and " + duration + " more are too many");
        }
    }

    /** Stops the clock, jumps to the next timer, runs everything of that instant, and returns the time reached. */
    public long step() {
        requireOutside("step");
        return loop.runNextInstant().join();
    }

    /** Runs a task on the loop, stamped with the virtual time that the wall clock calls for now. */
    public void post(Runnable task) {
        loop.execute(task);
    }

    /**
     * Sets what to call, on the loop, whenever the clock may move and no message, timer or outside work is left. A run
     * without input from outside has stalled if it gets there before its end.
     */
    public void onIdle(Runnable listener) {
        loop.onIdle(listener);
    }

    /** Returns how late timers have fired since the start. */
    public synchronized Lateness lateness() {
        lateness.add(loop.takeLateness());
        return Lateness.of(lateness);
    }

    /** Returns how many mailbox runs and timers the loop has done so far; exact when called on the loop. */
    public long numEvents() {
        return loop.numEvents();
    }

    /**
     * Completes when the thread has ended, by {@link #close}; exceptionally if an error that no actor survives ended
     * it.
     */
    public CompletionStage<Void> whenStopped() {
        return loop.whenStopped();
    }

    /** Ends the actor system, then its thread. Works in every state, also when either has ended by itself. */
    @Override
    public void close() {
        requireOutside("close");
        var terminated = new CompletableFuture<Void>();
        system.getWhenTerminated().whenComplete((done, failure) -> terminated.complete(null));
        loop.letOutsideIn();
        system.terminate();
        CompletableFuture.anyOf(terminated, loop.whenStopped())
                .exceptionally(error -> null)
                .join();
        loop.stop();
        loop.whenStopped().exceptionally(error -> null).join();
    }

    private void requireOutside(String method) {
        if (loop.isLoopThread()) {
            throw new IllegalStateException(method + " waits for the loop and must not be called by an actor");
        }
    }

    /** Gives Pekko's dispatcher the loop as its only executor. */
    private record LoopExecutionContext(EventLoop loop) implements ExecutionContext {
        @Override
        public void execute(Runnable task) {
            loop.execute(task);
        }

        @Override
        public void reportFailure(Throwable cause) {
            LoggerFactory.getLogger(VirtualTime.class).error("uncaught in a task of the emulation", cause);
        }
    }
}
