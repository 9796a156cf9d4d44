package understudy.chaos;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import understudy.chaos.evidence.Lateness;
import understudy.runtime.Stopwatch;

/** Thread that wants to run every few milliseconds, and notes when it could not, and how many others wanted to. */
final class LatenessMeter implements AutoCloseable {
    private static final long PERIOD_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    /** What a machine with nothing else to do needs to wake a thread is no stall. */
    private static final long MIN_STALL_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    private final Stopwatch stopwatch;
    private final List<Lateness.Stall> stalls = new ArrayList<>();
    private final ProcessorDemand demand = ProcessorDemand.ofThisMachine();
    private final CountDownLatch isClosed = new CountDownLatch(1);

    /** @param stopwatch runs since the scenario's start */
    LatenessMeter(Stopwatch stopwatch) {
        this.stopwatch = stopwatch;
        var thread = new Thread(this::measure, "chaos-lateness");
        thread.setDaemon(true);
        thread.start();
    }

    private void measure() {
        try {
            long wantedNanos = stopwatch.nanos() + PERIOD_NANOS;
            while (!isClosed.await(wantedNanos - stopwatch.nanos(), TimeUnit.NANOSECONDS)) {
                long nowNanos = stopwatch.nanos();
                if (nowNanos - wantedNanos >= MIN_STALL_NANOS) {
                    add(new Lateness.Stall(wantedNanos, nowNanos));
                }
                demand.look(nowNanos);
                wantedNanos = nowNanos + PERIOD_NANOS;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized void add(Lateness.Stall stall) {
        stalls.add(stall);
    }

    /** Returns what was measured so far. */
    synchronized Lateness lateness() {
        return new Lateness(stalls, demand.mostThreadsPerProcessor());
    }

    @Override
    public void close() {
        isClosed.countDown();
    }
}
