package understudy.settings;

import com.typesafe.config.ConfigObject;
import com.typesafe.config.ConfigUtil;
import com.typesafe.config.ConfigValue;
import com.typesafe.config.ConfigValueType;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.apache.commons.text.similarity.LevenshteinDistance;

/** The keys that a scenario may have: those of the reference, those in open sections, and no others. */
public final class KnownKeys {
    private static final LevenshteinDistance DISTANCE = LevenshteinDistance.getDefaultInstance();

    /** Texts that the library takes for truth values. */
    private static final Set<String> TRUTH_VALUES = Set.of("true", "yes", "on", "false", "no", "off");

    private final Section reference;
    private final Predicate<String> isOpen;
    private final List<String> leaves = new ArrayList<>();

    public KnownKeys(Section reference) {
        this(reference, key -> false);
    }

    /**
     * @param reference has every key; it stands where the keys of messages begin
     * @param isOpen tells of a section that the reference does not have whether it may be there, with any keys
     */
    public KnownKeys(Section reference, Predicate<String> isOpen) {
        this.reference = reference;
        this.isOpen = isOpen;
        collectLeaves(reference.path(), reference.root());
    }

    /** Returns the keys of all values. */
    public List<String> leaves() {
        return leaves;
    }

    /** Refuses a scenario, or a part of one, with a key that the reference does not have, naming the nearest one. */
    public void check(Section scenario) {
        check(scenario.path(), scenario.root(), reference.root());
    }

    private void check(String path, ConfigObject scenario, ConfigObject known) {
        for (var entry : scenario.entrySet()) {
            String key = join(path, entry.getKey());
            var knownValue = known.get(entry.getKey());
            if (knownValue != null) {
                checkKind(key, entry.getValue(), knownValue);
            } else if (!(entry.getValue() instanceof ConfigObject && isOpen.test(key))) {
                throw unknown(key, entry.getValue());
            }
        }
    }

    private void checkKind(String key, ConfigValue value, ConfigValue known) {
        boolean isSection = known instanceof ConfigObject;
        if (isSection && value instanceof ConfigObject section) {
            check(key, section, (ConfigObject) known);
        } else if (isSection) {
            throw new ScenarioException(value.origin(), key + " is a section, and takes no value of its own");
        } else if (value instanceof ConfigObject) {
            throw new ScenarioException(value.origin(), key + " takes a single value, not a section");
        } else if (!isOfTheKind(value, known)) {
            throw new ScenarioException(
                    value.origin(), key + " is " + shown(value) + ", which is not the kind of value it takes");
        }
    }

    /**
     * Compares a value with the default, so that a mistake shows also where the value is not read. Words are left to the
     * reader: many numbers may be {@code auto} or {@code off}.
     */
    private static boolean isOfTheKind(ConfigValue value, ConfigValue known) {
        var type = value.valueType();
        return switch (known.valueType()) {
            case LIST -> type == ConfigValueType.LIST || type == ConfigValueType.STRING;
            case BOOLEAN ->
                type == ConfigValueType.BOOLEAN
                        || (type == ConfigValueType.STRING && TRUTH_VALUES.contains(String.valueOf(value.unwrapped())));
            case NUMBER, STRING -> type != ConfigValueType.LIST;
            case NULL, OBJECT -> true;
        };
    }

    private static String shown(ConfigValue value) {
        return value.valueType() == ConfigValueType.STRING
                ? "\"" + value.unwrapped() + "\""
                : String.valueOf(value.unwrapped());
    }

    /** Names the key as it was written, down to its value. */
    private ScenarioException unknown(String path, ConfigValue value) {
        if (value instanceof ConfigObject section && !section.isEmpty()) {
            var first =
                    section.entrySet().stream().min(Map.Entry.comparingByKey()).orElseThrow();
            return unknown(join(path, first.getKey()), first.getValue());
        }
        var candidates = new ArrayList<>(leaves);
        collectSections(reference.path(), reference.root(), candidates);
        String known = near(path, candidates)
                .map(nearest -> "did you mean " + nearest + "?")
                .orElseGet(() -> "known are " + String.join(", ", new TreeSet<>(reference.keys())));
        return new ScenarioException(value.origin(), "unknown key " + path + "; " + known);
    }

    /** Returns the nearest candidate, if it is one that may be meant: half of its letters are right. */
    public static Optional<String> near(String key, Collection<String> candidates) {
        String nearest = nearest(key, candidates);
        return difference(key, nearest) <= Math.max(1, key.length() / 2) ? Optional.of(nearest) : Optional.empty();
    }

    /** Among keys with the same last part, and among all keys, the one with the fewest differing letters. */
    public static String nearest(String key, Collection<String> candidates) {
        return candidates.stream()
                .min(Comparator.comparingInt((String candidate) -> difference(key, candidate))
                        .thenComparing(Comparator.naturalOrder()))
                .orElseThrow();
    }

    /** A key in the wrong section is closer than one with other words. */
    private static int difference(String anyKey, String anyCandidate) {
        String key = anyKey.toLowerCase(Locale.ROOT);
        String candidate = anyCandidate.toLowerCase(Locale.ROOT);
        int whole = DISTANCE.apply(key, candidate);
        int lastPart = DISTANCE.apply(lastPart(key), lastPart(candidate));
        return Math.min(whole, 2 * lastPart + 1);
    }

    private static String lastPart(String key) {
        return key.substring(key.lastIndexOf('.') + 1);
    }

    private void collectLeaves(String path, ConfigObject section) {
        for (var entry : section.entrySet()) {
            String key = join(path, entry.getKey());
            if (entry.getValue() instanceof ConfigObject child) {
                collectLeaves(key, child);
            } else {
                leaves.add(key);
            }
        }
    }

    private static void collectSections(String path, ConfigObject section, List<String> into) {
        for (var entry : section.entrySet()) {
            if (entry.getValue() instanceof ConfigObject child) {
                String key = join(path, entry.getKey());
                into.add(key);
                collectSections(key, child, into);
            }
        }
    }

    private static String join(String path, String key) {
        String last = ConfigUtil.joinPath(key);
        return path.isEmpty() ? last : path + "." + last;
    }
}
