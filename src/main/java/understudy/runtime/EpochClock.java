package understudy.runtime;

import java.time.Instant;

/** The date, for what is shown to people and clients; emulated time has nothing to do with it. */
public final class EpochClock {
    private EpochClock() {}

    /** Returns the seconds since 1970. */
    public static long seconds() {
        return Instant.now().getEpochSecond();
    }
}
