package understudy.adopt;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Command line of an engine's server, which reads flags as settings of a scenario. */
public interface EngineFlags {
    /** Form of a flag's value. */
    enum Form {
        /** Nothing, or {@code --no-} in front of the name. */
        SWITCH,
        /** Nothing: the flag alone is true. */
        ON,
        /** One text or more. */
        LIST,
        /** One text. */
        VALUE
    }

    /**
     * A flag that the command line knows.
     *
     * @param setting that takes the value as it is, or empty
     * @param hasEffect whether it does anything in an emulation
     */
    record Known(Form form, String setting, boolean hasEffect) {}

    /**
     * What flags come to.
     *
     * @param settings values by key
     * @param warnings flags without effect, and assumptions, a line each
     * @param isGuessed whether the model is not known, and has the timing of one of its size
     */
    record Read(Map<String, String> settings, List<String> warnings, boolean isGuessed) {}

    /** Returns the flag of a name without dashes in front. */
    Optional<Known> flag(String name);

    /**
     * Returns the flags of a command by name; a list is written as JSON.
     *
     * @param command what stands behind the program's name, as a shell has it; the model may have no flag
     * @throws understudy.settings.ScenarioException if it cannot be taken apart
     */
    Map<String, String> flags(String command);

    /**
     * Reads flags.
     *
     * @throws understudy.settings.ScenarioException if a value cannot be used
     */
    Read read(List<String> words);
}
