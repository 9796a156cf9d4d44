package understudy.routing;

import java.util.List;

/** Settings of a routing policy in a scenario: the section {@code router.<name of the policy>}. */
public interface PolicySettings {

    /** Returns a number; what is not one, or out of range, is an error that names key and range. */
    double number(String key, double min, double max);

    /** Returns a whole number; what is not one, or out of range, is an error that names key and range. */
    long wholeNumber(String key, long min, long max);

    /** Returns the value, which must be one of some names in lower case and with hyphens. */
    String choice(String key, List<String> names);

    /** Returns whether something is so. */
    boolean bool(String key);

    /** Returns a duration in nanoseconds, from 0 to 720 hours. */
    double nanos(String key);
}
