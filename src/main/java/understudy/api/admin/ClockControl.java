package understudy.api.admin;

import java.time.Duration;

/** Clock controls for callers outside the emulation; {@code understudy.runtime.VirtualTime} has them all. */
public interface ClockControl {

    /** Lets the clock run, so many virtual seconds per wall second; infinite is as fast as possible. */
    void run(double speed);

    /** Stops the clock; messages are still delivered. */
    void pause();

    /**
     * Stops the clock, jumps to the next instant at which something is due, and returns its virtual time in
     * nanoseconds.
     */
    long step();

    /** Stops the clock, and runs everything that is due within {@code duration}. */
    void advance(Duration duration);
}
