package understudy.app.flags;

import java.util.List;
import java.util.Optional;

/**
 * A flag of an engine's server.
 *
 * @param names its names without dashes, the long one first
 * @param kind form of its value
 * @param effect the setting that its value goes to, or {@link #NONE}, or {@link #SPECIAL} and in words what it does
 */
public record Flag(List<String> names, Kind kind, String effect) {
    /** Effect of a flag that is accepted for compatibility alone. */
    static final String NONE = "-";

    /** Beginning of the effect of a flag whose value is no setting as it is. */
    static final String SPECIAL = "*";

    /** Form of a flag's value. */
    public enum Kind {
        /** Nothing, or true or false; {@code --no-} in front of the name is false. */
        SWITCH,
        /** Nothing: the flag alone is true. */
        ON,
        /** A text. */
        TEXT,
        /** A whole number, or a size such as 8k or 1M. */
        SIZE,
        /** Seconds. */
        SECONDS,
        /** One text or more. */
        LIST,
        /** A JSON object, or one key of it: {@code --name.key value}. */
        JSON
    }

    /** Returns the long name, without dashes. */
    public String name() {
        return names.get(0);
    }

    /** Returns whether the flag does anything here. */
    public boolean hasEffect() {
        return !effect.equals(NONE);
    }

    /** Returns the setting that the value is for as it is. */
    public Optional<String> setting() {
        return hasEffect() && !effect.startsWith(SPECIAL) ? Optional.of(effect) : Optional.empty();
    }

    /** Returns the effect of the flag, in words or as a setting. */
    public String description() {
        return effect.startsWith(SPECIAL) ? effect.substring(SPECIAL.length()).strip() : effect;
    }
}
