package understudy.app.console;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Handler of Ctrl-C: while it is open, Ctrl-C calls {@code stop}, which ends the run where it is, and gives the report
 * some time to be printed.
 */
public final class BreakOff implements AutoCloseable {
    private static final long SHUTDOWN_SECONDS = 10;

    private final Runnable stop;
    private final CountDownLatch isReported = new CountDownLatch(1);
    private final Thread hook = new Thread(this::breakOff, "break-off");

    public BreakOff(Runnable stop) {
        this.stop = stop;
        Runtime.getRuntime().addShutdownHook(hook);
    }

    private void breakOff() {
        stop.run();
        try {
            if (!isReported.await(SHUTDOWN_SECONDS, TimeUnit.SECONDS)) {
                System.err.println("no report within " + SHUTDOWN_SECONDS + " s; giving up");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** To be called when the report is out, or will never be. */
    @Override
    public void close() {
        isReported.countDown();
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException endOfProcess) {
            // Ctrl-C it was: the hook runs, and is done now that the report is out.
        }
    }
}
