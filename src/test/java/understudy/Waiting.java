package understudy;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import understudy.runtime.Stopwatch;

/** Waits for what happens on other threads, in wall time, and leaves them the processor meanwhile. */
public final class Waiting {
    private static final double LIMIT_SECONDS = 120;

    private Waiting() {}

    /** Returns when something is so; fails if it is not within two minutes. */
    public static void until(BooleanSupplier isSo) {
        var waiting = Stopwatch.start();
        while (!isSo.getAsBoolean()) {
            if (waiting.seconds() > LIMIT_SECONDS) {
                throw new AssertionError("it has not come to be within " + LIMIT_SECONDS + " s");
            }
            millis(5);
        }
    }

    /** Returns after so many milliseconds of wall time, or some more. */
    public static void millis(long millis) {
        new CompletableFuture<Void>()
                .completeOnTimeout(null, millis, TimeUnit.MILLISECONDS)
                .join();
    }
}
