package understudy.settings;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigException;
import com.typesafe.config.ConfigFactory;
import com.typesafe.config.ConfigObject;
import com.typesafe.config.ConfigRenderOptions;
import com.typesafe.config.ConfigValue;
import com.typesafe.config.ConfigValueFactory;
import com.typesafe.config.ConfigValueType;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * A part of a scenario, read key by key; an error in a value is reported with its place and the allowed values.
 * Nothing but this room sees the parser behind it. Immutable.
 */
public final class Section {
    /** The beginning of the path of a group's own settings. */
    private static final String LIST = "list";

    private static final Pattern GROUP = Pattern.compile("^cluster\\.groups\\.\\d+\\.");

    private static final String OFF = "off";

    private final Config config;
    private final String path;

    /** @param path place in the scenario; empty for the root */
    Section(Config config, String path) {
        this.config = config;
        this.path = path;
    }

    /** Returns the section of a HOCON text of the program itself, which may include resources of the class path. */
    public static Section of(String hocon) {
        return new Section(ConfigFactory.parseString(hocon), "");
    }

    /** Returns a section of values by path, such as {@code cluster.replicas}. */
    public static Section of(Map<String, ?> values) {
        return new Section(ConfigFactory.parseMap(values), "");
    }

    /**
     * Returns a section of values by key, where a dot is part of the key.
     *
     * @param origin name of their source in messages
     */
    public static Section ofKeys(Map<String, ?> values, String origin) {
        return new Section(ConfigValueFactory.fromMap(values, origin).toConfig(), "");
    }

    /** Returns where it stands in the scenario; empty for the root. */
    public String path() {
        return path;
    }

    /** Returns the same as a part that stands elsewhere. */
    public Section at(String elsewhere) {
        return new Section(config, elsewhere);
    }

    /** Returns the section with another value. */
    public Section with(String key, Object value) {
        return new Section(config.withValue(key, ConfigValueFactory.fromAnyRef(value)), path);
    }

    /**
     * Returns the section with another value, a text as it is, so that nothing in a path or name needs quotes; readers
     * convert it.
     *
     * @param origin name of the value's source in messages
     * @throws ScenarioException if the key is not one
     */
    public Section with(String key, String value, String origin) {
        try {
            return new Section(config.withValue(key, ConfigValueFactory.fromAnyRef(value, origin)), path);
        } catch (ConfigException e) {
            throw ScenarioException.of(e);
        }
    }

    /** Returns the section with another list of sections. */
    public Section withSections(String key, List<Section> elements) {
        var values = elements.stream().map(element -> element.config.root()).toList();
        return new Section(config.withValue(key, ConfigValueFactory.fromIterable(values)), path);
    }

    public Section without(String key) {
        return new Section(config.withoutPath(key), path);
    }

    /** Returns the section with nothing but one key, or one section. */
    public Section only(String key) {
        return new Section(config.withOnlyPath(key), path);
    }

    /** Returns the section with the values of another one for keys that it does not have. */
    public Section withFallback(Section others) {
        return new Section(config.withFallback(others.config), path);
    }

    /** Returns the section with values in place of <code>${...}</code>. */
    public Section resolve() {
        return new Section(config.resolve(), path);
    }

    /** Returns the section with values of another one in place of <code>${...}</code>. */
    public Section resolveWith(Section source) {
        return new Section(config.resolveWith(source.config), path);
    }

    /** Returns the section as HOCON. */
    public String render() {
        var options = ConfigRenderOptions.defaults().setOriginComments(false).setComments(false);
        return config.root().render(options.setJson(false));
    }

    /** Returns the section as JSON in one line. */
    public String json() {
        return config.root().render(ConfigRenderOptions.concise());
    }

    /** Returns the names of its values and sections. */
    public Set<String> keys() {
        return config.root().keySet();
    }

    /** Returns all values, also those of sections, by key; a list as JSON. */
    public SortedMap<String, String> values() {
        var values = new TreeMap<String, String>();
        for (var entry : config.entrySet()) {
            boolean isText = entry.getValue().valueType() == ConfigValueType.STRING;
            values.put(entry.getKey(), isText ? plain(entry.getValue()) : json(entry.getValue()));
        }
        return values;
    }

    /** Returns all values that are texts, also those of sections, in the order of their keys. */
    public List<String> texts() {
        return config.entrySet().stream()
                .filter(entry -> entry.getValue().valueType() == ConfigValueType.STRING)
                .sorted(Map.Entry.comparingByKey())
                .map(entry -> plain(entry.getValue()))
                .toList();
    }

    private static String plain(ConfigValue value) {
        return String.valueOf(value.unwrapped());
    }

    private static String json(ConfigValue value) {
        return value.render(ConfigRenderOptions.concise());
    }

    public Section section(String key) {
        return new Section(get(key, config::getConfig), full(key));
    }

    /** Returns a section that need not be there. */
    public Section sectionOrEmpty(String key) {
        return config.hasPath(key) ? section(key) : new Section(ConfigFactory.empty(Defaults.RESOURCE), full(key));
    }

    /** Returns whether the key has a value. */
    public boolean has(String key) {
        return config.hasPath(key);
    }

    public String text(String key) {
        return get(key, config::getString);
    }

    public List<String> texts(String key) {
        return isText(key) ? get(key, each -> parse(each).getStringList(LIST)) : get(key, config::getStringList);
    }

    public boolean bool(String key) {
        return get(key, config::getBoolean);
    }

    public int wholeNumber(String key, int min, int max) {
        return (int) wholeNumber(key, (long) min, max);
    }

    public long wholeNumber(String key, long min, long max) {
        long number = Numbers.parseWhole(text(key))
                .orElseThrow(() -> unusable(key, "must be a whole number from " + min + " to " + max));
        if (number >= min && number <= max) {
            return number;
        }
        throw unusable(key, "must be from " + min + " to " + max);
    }

    /** Returns a whole number, or nothing for the word {@code auto}. */
    public OptionalInt numberOrAuto(String key, int min, int max) {
        return text(key).equals("auto") ? OptionalInt.empty() : OptionalInt.of(wholeNumber(key, min, max));
    }

    /** Returns a number of at least {@code min}; "inf" is one if {@code max} is infinite. */
    public double number(String key, double min, double max) {
        String text = text(key);
        double number = Numbers.parse(text.equals("inf") ? "Infinity" : text);
        if (number >= min && number <= max) {
            return number;
        }
        throw unusable(key, "must be a number from " + min + " to " + max);
    }

    /** Returns a number above 0; {@code infinite} is the word for no limit. */
    public double positive(String key, String infinite) {
        String text = text(key);
        double number = text.equals(infinite) ? Double.POSITIVE_INFINITY : Numbers.parse(text);
        if (number > 0) {
            return number;
        }
        throw unusable(key, "must be a number above 0, or " + infinite);
    }

    /** Returns a finite number above 0. */
    public double positive(String key) {
        double number = Numbers.parse(text(key));
        if (number > 0 && number < Double.POSITIVE_INFINITY) {
            return number;
        }
        throw unusable(key, "must be a number above 0");
    }

    /** Returns a duration in nanoseconds, from 0 to 720 hours, which need not be whole. */
    public double nanos(String key) {
        return Durations.nanos(text(key)).orElseThrow(() -> unusable(key, "must be " + Durations.ALLOWED));
    }

    /** Returns a duration in nanoseconds, or nothing for the word {@code off}. */
    public OptionalDouble nanosOrOff(String key) {
        var nanos = Durations.nanos(text(key));
        if (nanos.isEmpty() && !word(key).equals(OFF)) {
            throw unusable(key, "must be " + OFF + ", or " + Durations.ALLOWED);
        }
        return nanos;
    }

    /** Returns a file to read, which must exist; {@code why} says what needs it. */
    public Path file(String key, String why) {
        var file = path(key, why);
        if (Files.isDirectory(file)) {
            throw unusable(key, "which is a directory");
        }
        return file;
    }

    /** Returns the path of a file or directory that is there; {@code why} says who needs it. */
    public Path path(String key, String why) {
        if (text(key).isEmpty()) {
            throw unusable(key, why + ": --set " + full(key) + "=PATH");
        }
        var path = Path.of(text(key));
        if (!Files.exists(path)) {
            throw unusable(key, "which does not exist");
        }
        return path;
    }

    /** Returns the constant whose name, in lower case and with hyphens, is the value. */
    public <E extends Enum<E>> E choice(String key, Class<E> type) {
        var constants = List.of(type.getEnumConstants());
        var names = constants.stream().map(Section::nameOf).toList();
        return constants.get(names.indexOf(choice(key, names)));
    }

    /** Returns the value, which must be one of some names in lower case and with hyphens. */
    public String choice(String key, List<String> names) {
        String name = word(key).replace('_', '-');
        if (!names.contains(name)) {
            throw unusable(key, "must be one of " + String.join(", ", names));
        }
        return name;
    }

    /** YAML takes the word off for a truth value. */
    private String word(String key) {
        return text(key).equals("false") ? OFF : text(key);
    }

    /** Refuses any key with another value than its default, because of {@code why}. */
    public void requireDefaults(List<String> keys, String why) {
        for (String key : keys) {
            if (!isDefault(key)) {
                throw unusable(key, why);
            }
        }
    }

    /**
     * Refuses any key but some with another value than its default, because of {@code why}; the first in the order of the
     * defaults is named, so that a switch goes before what it switches on.
     *
     * @param keys those that may have any value; a section stands for all in it
     */
    public void requireOnly(Collection<String> keys, String why) {
        var usual = Defaults.SCENARIO.config.getConfig(usual(path));
        usual.entrySet().stream()
                .map(Map.Entry::getKey)
                .filter(key -> keys.stream().noneMatch(each -> key.equals(each) || key.startsWith(each + ".")))
                .filter(key -> !config.getValue(key)
                        .unwrapped()
                        .equals(usual.getValue(key).unwrapped()))
                .sorted(Comparator.comparingInt(
                        key -> usual.getValue(key).origin().lineNumber()))
                .forEach(key -> requireDefault(key, why));
    }

    private void requireDefault(String key, String why) {
        if (config.getValue(key).valueType() == ConfigValueType.LIST || !isDefault(key)) {
            throw unusable(key, why);
        }
    }

    /** Returns the section with defaults for keys that the defaults of scenarios do not have, and no other keys. */
    public Section withDefaults(Section defaults) {
        new KnownKeys(defaults).check(this);
        return withFallback(defaults);
    }

    /** Returns the path of a key in the defaults, which have no groups. */
    private static String usual(String fullPath) {
        return GROUP.matcher(fullPath).replaceFirst("");
    }

    /** Returns whether a setting is what the defaults say. */
    public boolean isDefault(String key) {
        String usual = Defaults.SCENARIO.config.getString(usual(full(key)));
        // A number may be written in several ways; NaN, for what is none, equals nothing.
        return text(key).equals(usual) || Numbers.parse(text(key)) == Numbers.parse(usual);
    }

    /**
     * One entry of a list of small sections.
     *
     * @param place beginning of messages about it
     */
    public record Entry(Map<String, String> values, String place) {
        /** Returns the exception for an entry that cannot be used; it begins with the entry's place. */
        public ScenarioException unusable(String problem) {
            return new ScenarioException(place + problem);
        }
    }

    /** Returns the entries of a list whose elements have plain values; see {@link #sections}. */
    public List<Entry> entries(String key) {
        return configs(key).stream().map(Section::entry).toList();
    }

    /** Returns the elements of a list of sections; a list in a text is one too, as flags have it. */
    public List<Section> sections(String key) {
        var elements = configs(key);
        return IntStream.range(0, elements.size())
                .mapToObj(i -> new Section(elements.get(i), full(key) + "." + i))
                .toList();
    }

    private List<? extends Config> configs(String key) {
        return isText(key) ? get(key, each -> parse(each).getConfigList(LIST)) : get(key, config::getConfigList);
    }

    /** Returns whether a list is given in one word, as in a flag. */
    private boolean isText(String key) {
        return config.hasPath(key) && config.getValue(key).valueType() == ConfigValueType.STRING;
    }

    private Config parse(String key) {
        String origin = config.getValue(key).origin().description();
        return Hocon.text(LIST + " = " + text(key), origin).config;
    }

    private static Entry entry(Config element) {
        var values = new TreeMap<String, String>();
        element.root().forEach((key, value) -> values.put(key, String.valueOf(value.unwrapped())));
        return new Entry(values, ScenarioException.place(element.origin()));
    }

    /** Returns the exception for a value that cannot be used, and why. */
    public ScenarioException unusable(String key, String why) {
        var value = config.getValue(key);
        Object plain = value.unwrapped();
        String shown = plain instanceof String text ? "\"" + text + "\"" : String.valueOf(plain);
        return new ScenarioException(value.origin(), full(key) + " is " + shown + ", " + why);
    }

    /** Returns the exception for a key that must not be there; it begins with the place of its value. */
    public ScenarioException problem(String key, String problem) {
        var own = config.root().get(key);
        return new ScenarioException((own == null ? config.getValue(key) : own).origin(), problem);
    }

    /** Returns the values as the parser has them, for {@link KnownKeys}. */
    ConfigObject root() {
        return config.root();
    }

    private <T> T get(String key, Function<String, T> getter) {
        try {
            return getter.apply(key);
        } catch (ConfigException.WrongType e) {
            throw unusable(key, "which is not the kind of value it takes");
        } catch (ConfigException.Parse e) {
            throw unusable(key, "which is not a list of { key = value } entries");
        } catch (ConfigException.Missing e) {
            throw new ScenarioException(e.origin(), full(key) + " is missing");
        }
    }

    private String full(String key) {
        return path.isEmpty() ? key : path + "." + key;
    }

    /** Returns how a constant is written in a scenario. */
    public static String nameOf(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
