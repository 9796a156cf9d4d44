package understudy.faults;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** Modes of vLLM's sleep: the treatment of the requests that a replica has ({@code PauseMode}). */
public enum SleepMode {
    /** They end at once. */
    ABORT,
    /** Those that run end first, and the replica sleeps then; those that wait go on when it wakes up. */
    WAIT,
    /** They go on when it wakes up. */
    KEEP;

    /** Returns the mode of a name, or empty if there is none. */
    public static Optional<SleepMode> find(String name) {
        return Arrays.stream(values())
                .filter(mode -> mode.toString().equals(name))
                .findFirst();
    }

    /** Returns the name as vLLM writes it. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
