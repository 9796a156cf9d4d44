package understudy.settings;

import com.typesafe.config.ConfigException;
import com.typesafe.config.ConfigOrigin;

/** A setting that cannot be used; the message names where it stands, the key, the value, and what is allowed. */
public class ScenarioException extends RuntimeException {
    /** The parser's message about a brace that is not closed. */
    private static final String MISSING_BRACE = "expecting a close parentheses ')' here, not: end of file";

    public ScenarioException(String message) {
        super(message);
    }

    ScenarioException(ConfigOrigin origin, String problem) {
        super(place(origin) + problem);
    }

    /** Wraps an error of the HOCON parser. */
    static ScenarioException of(ConfigException failure) {
        String message =
                String.valueOf(failure.getMessage()).replace(MISSING_BRACE, "expecting a closing brace '}' here");
        var origin = failure.origin();
        if (origin == null) {
            return new ScenarioException(message);
        }
        String prefix = origin.description() + ": ";
        return new ScenarioException(origin, message.startsWith(prefix) ? message.substring(prefix.length()) : message);
    }

    /** Says where a value was set, file and line where there is a file; nothing for a default. */
    static String place(ConfigOrigin origin) {
        String description = origin.description();
        if (description.startsWith(Defaults.RESOURCE)) {
            return "";
        }
        int colon = description.lastIndexOf(": " + origin.lineNumber());
        return colon < 0 ? description + ": " : description.substring(0, colon) + ":" + origin.lineNumber() + ": ";
    }
}
