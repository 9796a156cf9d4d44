package understudy.app;

import com.typesafe.config.ConfigOrigin;

/** A setting that cannot be used; the message names where it stands, the key, the value, and what is allowed. */
final class ScenarioException extends RuntimeException {

    ScenarioException(String message) {
        super(message);
    }

    ScenarioException(ConfigOrigin origin, String problem) {
        super(describe(origin) + ": " + problem);
    }

    /** Says where a value was set: file and line where there is a file. */
    private static String describe(ConfigOrigin origin) {
        String place = origin.description();
        int colon = place.lastIndexOf(": " + origin.lineNumber());
        return colon >= 0 ? place.substring(0, colon) + ":" + origin.lineNumber() : place;
    }
}
