package understudy.runtime;

/** The only source of time for actors. */
@FunctionalInterface
public interface Clock {

    /** Returns the virtual time, in nanoseconds since the emulation was created; it never goes backwards. */
    long nowNanos();
}
