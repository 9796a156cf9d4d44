package understudy.routing;

import java.util.List;
import understudy.settings.Section;

/** Settings of a routing policy in a scenario: the section {@code router.<name of the policy>}. */
public interface PolicySettings {

    /** Returns a number; any other value, or one out of range, is an error that names key and range. */
    double number(String key, double min, double max);

    /** Returns a whole number; any other value, or one out of range, is an error that names key and range. */
    long wholeNumber(String key, long min, long max);

    /** Returns the value, which must be one of some names in lower case and with hyphens. */
    String choice(String key, List<String> names);

    /** Returns whether something is so. */
    boolean bool(String key);

    /** Returns a duration in nanoseconds, from 0 to 720 hours. */
    double nanos(String key);

    /** Returns a section of a scenario as a policy sees it. */
    static PolicySettings of(Section section) {
        return new PolicySettings() {
            @Override
            public double number(String key, double min, double max) {
                return section.number(key, min, max);
            }

            @Override
            public long wholeNumber(String key, long min, long max) {
                return section.wholeNumber(key, min, max);
            }

            @Override
            public String choice(String key, List<String> names) {
                return section.choice(key, names);
            }

            @Override
            public boolean bool(String key) {
                return section.bool(key);
            }

            @Override
            public double nanos(String key) {
                return section.nanos(key);
            }
        };
    }
}
