package understudy.runtime;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.SingleWriterRecorder;
import org.jspecify.annotations.Nullable;

/**
 * One thread that runs everything of an emulation: first whatever is ready, then the next timer.
 *
 * <p>The order is (time, creation order), nothing else. Work from other threads enters by a concurrent queue and runs
 * at the later of the current virtual time and the virtual time that the wall clock called for when it came, after the
 * timers due by then. Created paused: nothing moves the clock until {@link #resume} or {@link #runUntil}.
 */
final class EventLoop implements Executor, Runnable {
    /**
     * Number of tasks that run before the controls have their turn, so that actors that never come to rest can be
     * stopped.
     */
    private static final int TASKS_PER_TURN = 4096;

    private static final VarHandle NOW;

    static {
        try {
            NOW = MethodHandles.lookup().findVarHandle(EventLoop.class, "nowNanos", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Thread thread;
    private final long startNanos = System.nanoTime();
    private final ArrayDeque<Runnable> ready = new ArrayDeque<>(1024);
    private final TimerHeap timers = new TimerHeap();
    private final ConcurrentLinkedQueue<Outside> outside = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<Runnable> controls = new ConcurrentLinkedQueue<>();
    private final Horizon horizon = new Horizon();
    private final SingleWriterRecorder latenessNanos = new SingleWriterRecorder(3);
    private final CompletableFuture<Void> stopped = new CompletableFuture<>();

    @SuppressWarnings("unused") // accessed through NOW
    private volatile long nowNanos;

    private volatile boolean parked;
    private volatile double speed;
    private Pace pace = new Pace(Double.POSITIVE_INFINITY, 0, 0);
    private Runnable onIdle = () -> {};
    private boolean running;
    private boolean letsOutsideIn;
    private boolean stopping;
    private long nextSequence;

    /** The first task of a timer that fires: nothing else is ready then, so it runs at once. */
    private @Nullable Runnable fired;

    private boolean isFiring;
    private long numTasks;
    private long numTimers;
    private int numCancelled;

    EventLoop(String name) {
        thread = new Thread(this, name);
        thread.setDaemon(true);
    }

    /** Work that came from another thread, and the wall time at which it came. */
    private record Outside(Runnable task, long wallNanos) {}

    void start() {
        thread.start();
    }

    boolean isLoopThread() {
        return Thread.currentThread() == thread;
    }

    long nowNanos() {
        return (long) NOW.getOpaque(this);
    }

    private long wallNanos() {
        return System.nanoTime() - startNanos;
    }

    @Override
    public void execute(Runnable task) {
        if (isLoopThread()) {
            if (isFiring && fired == null) {
                fired = task;
            } else {
                ready.addLast(task);
            }
        } else {
            outside.add(new Outside(task, wallNanos()));
            wakeUp();
        }
    }

    /** Adds a timer; from another thread its delay counts from the moment the loop takes notice of it. */
    void schedule(VirtualTimer timer, long delayNanos) {
        if (isLoopThread()) {
            timer.dueNanos = later(nowNanos(), Math.max(0, delayNanos));
            timer.sequence = nextSequence++;
            timers.add(timer);
        } else {
            execute(() -> schedule(timer, delayNanos));
        }
    }

    /** Times after the end of virtual time are due at its end. */
    private static long later(long nowNanos, long delayNanos) {
        return delayNanos > Long.MAX_VALUE - nowNanos ? Long.MAX_VALUE : nowNanos + delayNanos;
    }

    /** Returns whether no task is ready and no timer is due now; to be called on the loop. */
    boolean isInstantOver() {
        if (!ready.isEmpty()) {
            return false;
        }
        var next = timers.peek();
        return next == null || next.dueNanos > nowNanos();
    }

    void onTimerCancelled() {
        if (!isLoopThread()) {
            control(this::onTimerCancelled);
        } else if (++numCancelled > 64 && numCancelled > timers.size() / 2) {
            timers.compact();
            numCancelled = 0;
        }
    }

    /** Returns how many timers are kept, cancelled ones included; to be called on the loop. */
    int numTimersKept() {
        return timers.size();
    }

    /** Lets the clock move, {@code newSpeed} times as fast as the wall clock, or as fast as possible if infinite. */
    void resume(double newSpeed) {
        Pace.requireValid(newSpeed);
        control(() -> {
            stopClock();
            horizon.fail(new IllegalStateException("the clock was set running before that time was reached"));
            pace = new Pace(newSpeed, wallNanos(), nowNanos());
            speed = newSpeed;
            running = true;
        });
    }

    void pause() {
        control(this::stopClock);
    }

    /** Returns how fast the clock moves, 0 while it is paused. */
    double speed() {
        return speed;
    }

    /** Pauses, then runs everything that is due up to a virtual time, without pacing; gives the time reached. */
    CompletableFuture<Long> runUntil(long virtualNanos) {
        return whenReached(reached -> horizon.waitForTime(Math.max(virtualNanos, nowNanos()), reached));
    }

    /** Pauses, then runs the next instant at which a timer is due; gives the time reached. */
    CompletableFuture<Long> runNextInstant() {
        return whenReached(horizon::waitForStep);
    }

    private CompletableFuture<Long> whenReached(Consumer<CompletableFuture<Long>> enter) {
        var reached = new CompletableFuture<Long>();
        control(() -> {
            stopClock();
            enter.accept(reached);
        });
        if (stopped.isDone()) {
            reached.completeExceptionally(new IllegalStateException("the loop has ended"));
        }
        return reached;
    }

    void onIdle(Runnable listener) {
        control(() -> onIdle = listener);
    }

    /** Returns how late timers fired since the last call, in nanoseconds of wall time; empty unless paced. */
    Histogram takeLateness() {
        return latenessNanos.getIntervalHistogram();
    }

    /**
     * Returns how many tasks and timers have run, a timer and the task that it brings being one; exact once the loop has
     * stopped or called back.
     */
    long numEvents() {
        return numTasks + numTimers;
    }

    /** Lets outside work run before all else is at rest, which may never be; for shutdown. */
    void letOutsideIn() {
        control(() -> letsOutsideIn = true);
    }

    /** Ends the loop after the work that is ready. */
    void stop() {
        control(() -> stopping = true);
    }

    /** Completes when the thread is done; exceptionally if an error has ended it. */
    CompletableFuture<Void> whenStopped() {
        return stopped;
    }

    @Override
    public void run() {
        try {
            while (!stopping) {
                runReady(TASKS_PER_TURN);
                runControls();
                while (letsOutsideIn && !outside.isEmpty()) {
                    takeOutside(nowNanos());
                }
                if (ready.isEmpty() && !stopping) {
                    advance();
                }
            }
            runReady(TASKS_PER_TURN);
            end(null);
        } catch (Throwable e) {
            end(e);
        }
    }

    /** Ends all waits, since the actors no longer run; later callers find the loop stopped. */
    private void end(@Nullable Throwable error) {
        if (error == null) {
            stopped.complete(null);
        } else {
            stopped.completeExceptionally(error);
        }
        runControls();
        horizon.fail(error == null ? new IllegalStateException("the loop has ended") : error);
    }

    private void control(Runnable action) {
        controls.add(action);
        wakeUp();
    }

    private void wakeUp() {
        if (parked) {
            LockSupport.unpark(thread);
        }
    }

    /** Stops the clock at the time that the wall clock calls for, as far as that is known to be reached. */
    private void stopClock() {
        if (running && !pace.isUnlimited()) {
            var next = timers.peek();
            long calledForNanos = pace.virtualAt(wallNanos());
            moveTo(next == null ? calledForNanos : Math.min(calledForNanos, next.dueNanos));
        }
        running = false;
        speed = 0;
    }

    private void moveTo(long virtualNanos) {
        NOW.setOpaque(this, Math.max(nowNanos(), virtualNanos));
    }

    private void runReady(int maxTasks) {
        for (int i = 0; i < maxTasks; i++) {
            var task = ready.pollFirst();
            if (task == null) {
                return;
            }
            numTasks++;
            task.run();
        }
    }

    private void runControls() {
        for (var action = controls.poll(); action != null; action = controls.poll()) {
            action.run();
        }
    }

    private void advance() {
        var next = timers.peek();
        var arrived = outside.peek();
        if (running && !pace.isUnlimited()) {
            advancePaced(next, arrived);
        } else if (arrived != null) {
            takeOutside(nowNanos());
        } else if (horizon.isStepWanted()) {
            horizon.step(next == null ? nowNanos() : next.dueNanos);
        } else if (next != null && (running || horizon.includes(next.dueNanos))) {
            fire(next);
        } else if (horizon.isSet()) {
            reachHorizon();
        } else {
            idle();
        }
    }

    private void advancePaced(@Nullable VirtualTimer next, @Nullable Outside arrived) {
        long dueWallNanos = next == null ? Long.MAX_VALUE : pace.wallAt(next.dueNanos);
        if (arrived != null && arrived.wallNanos < dueWallNanos) {
            long stampNanos = pace.virtualAt(arrived.wallNanos);
            takeOutside(next == null ? stampNanos : Math.min(stampNanos, next.dueNanos));
            return;
        }
        if (next == null) {
            idle();
            return;
        }
        long latenessOfNext = wallNanos() - dueWallNanos;
        if (latenessOfNext >= 0) {
            latenessNanos.recordValue(latenessOfNext);
            fire(next);
        } else {
            park(-latenessOfNext);
        }
    }

    private void takeOutside(long stampNanos) {
        moveTo(stampNanos);
        var arrived = outside.poll();
        if (arrived != null) {
            ready.addLast(arrived.task);
        }
    }

    private void fire(VirtualTimer next) {
        timers.removeTop();
        if (next.dueNanos < nowNanos()) {
            throw new IllegalStateException("clock would go back from " + nowNanos() + " ns to " + next.dueNanos);
        }
        NOW.setOpaque(this, next.dueNanos);
        numTimers++;
        isFiring = true;
        next.fire();
        isFiring = false;
        var task = fired;
        if (task != null) {
            fired = null;
            task.run();
        }
    }

    private void reachHorizon() {
        moveTo(horizon.nanos());
        horizon.reach(nowNanos());
    }

    private void idle() {
        if (running) {
            onIdle.run();
        }
        if (ready.isEmpty()) {
            park(Long.MAX_VALUE);
        }
    }

    private void park(long nanos) {
        parked = true;
        if (outside.isEmpty() && controls.isEmpty()) {
            LockSupport.parkNanos(this, nanos);
        }
        parked = false;
    }
}
