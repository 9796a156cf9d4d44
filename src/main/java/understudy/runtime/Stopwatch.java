package understudy.runtime;

/** Measures wall time, for figures about the machine; emulated time has nothing to do with it. */
public final class Stopwatch {
    private final long startNanos = System.nanoTime();

    private Stopwatch() {}

    public static Stopwatch start() {
        return new Stopwatch();
    }

    /** Returns the wall time since the start, in seconds. */
    public double seconds() {
        return nanos() / 1e9;
    }

    /** Returns the wall time since the start, in nanoseconds. */
    public long nanos() {
        return System.nanoTime() - startNanos;
    }
}
