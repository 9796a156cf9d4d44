package understudy.runtime;

import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;

/** The date, for what is shown to people and clients; emulated time has nothing to do with it. */
public final class EpochClock {
    private EpochClock() {}

    /** Returns the local date and time, as chat templates write them. */
    public static LocalDateTime localTime() {
        return LocalDateTime.now(ZoneId.systemDefault());
    }

    /** Returns the seconds since 1970. */
    public static long seconds() {
        return Instant.now().getEpochSecond();
    }

    /** Returns the milliseconds since 1970. */
    public static long millis() {
        return Instant.now().toEpochMilli();
    }
}
