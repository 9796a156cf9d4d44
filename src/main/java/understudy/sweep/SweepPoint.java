package understudy.sweep;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * One run: a scenario file, and the settings that are its own.
 *
 * @param settings by key, in the order of the command line; the seed is one of them
 */
public record SweepPoint(String scenario, Map<String, String> settings) {
    static final String SEED = "seed";

    public SweepPoint {
        settings = Collections.unmodifiableMap(new LinkedHashMap<>(settings));
    }

    /** Returns the point with one setting more, or another value of it. */
    SweepPoint with(String key, String value) {
        var more = new LinkedHashMap<>(settings);
        more.put(key, value);
        return new SweepPoint(scenario, more);
    }

    /** Returns the point as a user writes it, which sets it apart from all others of a sweep. */
    public String name() {
        return settings.entrySet().stream()
                .map(entry -> entry.getKey() + "=" + entry.getValue())
                .collect(Collectors.joining(" ", scenario + " ", ""))
                .trim();
    }
}
