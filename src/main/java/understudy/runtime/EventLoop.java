package understudy.runtime;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.LockSupport;
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
    private static final long NOWHERE = -1;
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
    private final List<CompletableFuture<Long>> waitingForHorizon = new ArrayList<>();
    private final SingleWriterRecorder latenessNanos = new SingleWriterRecorder(3);
    private final CompletableFuture<Void> stopped = new CompletableFuture<>();

    @SuppressWarnings("unused") // accessed through NOW
    private volatile long nowNanos;

    private volatile boolean parked;
    private Pace pace = new Pace(Double.POSITIVE_INFINITY, 0, 0);
    private Runnable onIdle = () -> {};
    private boolean running;
    private boolean stopping;
    private long horizonNanos = NOWHERE;
    private long nextSequence;
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
            ready.addLast(task);
        } else {
            outside.add(new Outside(task, wallNanos()));
            wakeUp();
        }
    }

    /** Adds a timer; from another thread its delay counts from the moment the loop takes notice of it. */
    void schedule(VirtualTimer timer, long delayNanos) {
        if (isLoopThread()) {
            timer.dueNanos = Math.addExact(nowNanos(), Math.max(0, delayNanos));
            timer.sequence = nextSequence++;
            timers.add(timer);
        } else {
            execute(() -> schedule(timer, delayNanos));
        }
    }

    void onTimerCancelled() {
        if (isLoopThread() && ++numCancelled > 64 && numCancelled > timers.size() / 2) {
            timers.compact();
            numCancelled = 0;
        }
    }

    /** Lets the clock move, {@code speed} times as fast as the wall clock, or as fast as possible if infinite. */
    void resume(double speed) {
        control(() -> {
            pace = new Pace(speed, wallNanos(), nowNanos());
            running = true;
        });
    }

    void pause() {
        control(() -> running = false);
    }

    /** Pauses, then runs everything that is due up to a virtual time, without pacing; gives the time reached. */
    CompletableFuture<Long> runUntil(long virtualNanos) {
        var reached = new CompletableFuture<Long>();
        control(() -> waitFor(Math.max(virtualNanos, nowNanos()), reached));
        return reached;
    }

    /** Pauses, then runs the next instant at which a timer is due; gives the time reached. */
    CompletableFuture<Long> runNextInstant() {
        var reached = new CompletableFuture<Long>();
        control(() -> {
            var next = timers.peek();
            waitFor(next == null ? nowNanos() : next.dueNanos, reached);
        });
        return reached;
    }

    void onIdle(Runnable listener) {
        control(() -> onIdle = listener);
    }

    /** Returns how late timers fired since the last call, in nanoseconds of wall time; empty unless paced. */
    Histogram takeLateness() {
        return latenessNanos.getIntervalHistogram();
    }

    /** Returns how many tasks and timers have run; exact once the loop has stopped or called back. */
    long numEvents() {
        return numTasks + numTimers;
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
                runReady();
                runControls();
                if (ready.isEmpty() && !stopping) {
                    advance();
                }
            }
            runReady();
            stopped.complete(null);
        } catch (Throwable e) {
            // Nobody runs the actors any more, so whoever waits for them must be told.
            waitingForHorizon.forEach(waiter -> waiter.completeExceptionally(e));
            stopped.completeExceptionally(e);
        }
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

    private void waitFor(long virtualNanos, CompletableFuture<Long> reached) {
        running = false;
        horizonNanos = Math.max(horizonNanos, virtualNanos);
        waitingForHorizon.add(reached);
    }

    private void runReady() {
        for (var task = ready.pollFirst(); task != null; task = ready.pollFirst()) {
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
        } else if (next != null && (running || next.dueNanos <= horizonNanos)) {
            fire(next);
        } else if (horizonNanos != NOWHERE) {
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
        NOW.setOpaque(this, Math.max(nowNanos(), stampNanos));
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
        next.fire();
    }

    private void reachHorizon() {
        NOW.setOpaque(this, Math.max(nowNanos(), horizonNanos));
        horizonNanos = NOWHERE;
        var reached = List.copyOf(waitingForHorizon);
        waitingForHorizon.clear();
        reached.forEach(waiter -> waiter.complete(nowNanos()));
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
