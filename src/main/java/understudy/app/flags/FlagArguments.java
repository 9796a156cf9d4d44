package understudy.app.flags;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import understudy.settings.ScenarioException;

/**
 * Words behind the command of an engine's server, taken apart as {@code argparse} does: {@code --a b}, {@code --a=b}, {@code
 * --json.key value}, several values behind one flag, unique beginnings of names; the table says what else its program can do.
 */
public final class FlagArguments {
    private static final String NO = "no-";
    private static final Set<String> BOOLEANS = Set.of("true", "false");

    private final Map<String, List<String>> values = new LinkedHashMap<>();
    private final List<String> unrecognized = new ArrayList<>();
    private final List<String> warnings = new ArrayList<>();
    private final FlagTable table;
    private final List<String> words;
    private final String superset;
    private String positional = "";
    private int next;
    private String typo = "";

    private FlagArguments(FlagTable table, List<String> words, String superset) {
        this.table = table;
        this.words = words;
        this.superset = superset;
    }

    /**
     * Takes words apart; those of {@code --config} come first, so that the command line is stronger.
     *
     * @param superset program that has more flags, whose unknown ones are passed over with a warning; may be empty
     * @throws ScenarioException if a flag is unknown or lacks its value, or a value is of the wrong kind
     */
    public static FlagArguments parse(FlagTable table, List<String> words, String superset) {
        var given = new FlagArguments(table, words, superset).read();
        var config = given.last("config");
        if (config.isPresent()) {
            var all = new ArrayList<>(ConfigFile.words(config.get(), table));
            all.addAll(words);
            given = new FlagArguments(table, all, superset).read();
        }
        given.requireAllKnown();
        return given;
    }

    /** Fails as argparse does, in its words. */
    private void requireAllKnown() {
        if (!unrecognized.isEmpty()) {
            String nearest = typo.isEmpty() ? "" : " (did you mean --" + table.nearest(typo) + "?)";
            throw new ScenarioException(table.program().split(" ", 2)[0] + ": error: unrecognized arguments: "
                    + String.join(" ", unrecognized) + nearest);
        }
    }

    /** Returns the last value of a flag. */
    public Optional<String> last(String flag) {
        var given = all(flag);
        return given.isEmpty() ? Optional.empty() : Optional.of(given.get(given.size() - 1));
    }

    /** Returns the last value of a flag that is not blank. */
    public Optional<String> given(String flag) {
        return last(flag).filter(value -> !value.isBlank());
    }

    /** Returns whether a switch is on. */
    public boolean isOn(String flag) {
        return last(flag).filter("true"::equals).isPresent();
    }

    /** Puts the settings that flags' values are for as they are. */
    public void putSettings(Map<String, String> settings) {
        table.flags()
                .forEach(flag -> flag.setting()
                        .ifPresent(setting -> given(flag.name())
                                .ifPresent(value -> settings.put(
                                        setting, flag.kind() == Flag.Kind.SECONDS ? value + "s" : value))));
    }

    /** Returns the values of a flag where it stood last. */
    public List<String> all(String flag) {
        return values.getOrDefault(flag, List.of());
    }

    /** Returns all values by flag, a key of a JSON flag being one of its own. */
    public Map<String, List<String>> values() {
        return values;
    }

    /** Returns the names of the flags that are given. */
    public Set<String> names() {
        return values.keySet().stream()
                .map(key -> key.split("\\.", 2)[0])
                .collect(Collectors.toCollection(LinkedHashSet::new));
    }

    /** Returns the word without a flag. */
    public Optional<String> positional() {
        return positional.isEmpty() ? Optional.empty() : Optional.of(positional);
    }

    /** Returns what has no effect, a line each. */
    public List<String> warnings() {
        return warnings;
    }

    private FlagArguments read() {
        while (next < words.size()) {
            String word = words.get(next++).strip();
            if (isFlag(word)) {
                readFlag(word);
            } else if (!word.isEmpty() && positional.isEmpty()) {
                positional = word;
            } else if (!word.isEmpty()) {
                unrecognized.add(word);
            }
        }
        return this;
    }

    private void readFlag(String word) {
        int equals = word.indexOf('=');
        String written = equals < 0 ? word : word.substring(0, equals);
        var inline = equals < 0 ? Optional.<String>empty() : Optional.of(word.substring(equals + 1));
        String[] parts = written.replaceFirst("^--?", "").split("\\.", 2);
        String name = table.spelling().hasUnderscores() ? parts[0].replace('_', '-') : parts[0];
        var flag = table.find(name);
        boolean isNegated = flag.isEmpty() && name.startsWith(NO);
        if (isNegated) {
            flag = table.find(name.substring(NO.length())).filter(found -> found.kind() == Flag.Kind.SWITCH);
        }
        if (flag.isEmpty()) {
            passOver(word, written, name);
        } else if (isNegated) {
            put(flag.get(), flag.get().name(), List.of("false"));
        } else {
            String key = flag.get().name() + (parts.length == 2 ? "." + parts[1] : "");
            put(flag.get(), key, values(flag.get(), inline));
        }
    }

    private void put(Flag flag, String key, List<String> given) {
        if (!flag.hasEffect() && !values.containsKey(key)) {
            warnings.add("--" + flag.name() + " has no effect here");
        }
        values.put(key, given);
    }

    private void passOver(String word, String written, String name) {
        if (!superset.isEmpty()) {
            var behind = following();
            warnings.add(written + " has no effect here: it is no flag of vLLM's, but may be one of " + superset
                    + (behind.isEmpty() ? "" : "; nor has " + String.join(" ", behind)));
            return;
        }
        var candidates = table.beginningWith(name);
        if (candidates.size() > 1) {
            throw new ScenarioException(table.program() + ": error: ambiguous option: " + written + " could match "
                    + candidates.stream().map(each -> "--" + each).collect(Collectors.joining(", ")));
        }
        unrecognized.add(word);
        typo = typo.isEmpty() ? name : typo;
        if (word.indexOf('=') < 0) {
            unrecognized.addAll(following());
        }
    }

    private List<String> values(Flag flag, Optional<String> inline) {
        return switch (flag.kind()) {
            case SWITCH -> List.of(inline.or(this::booleanWord).orElse("true").toLowerCase(Locale.ROOT));
            case ON -> on(flag, inline);
            case LIST -> inline.map(List::of).orElseGet(this::following);
            case SIZE -> List.of(sized(flag, single(flag, inline)));
            case TEXT, JSON, SECONDS -> List.of(single(flag, inline));
        };
    }

    private List<String> on(Flag flag, Optional<String> inline) {
        if (inline.isPresent()) {
            throw new ScenarioException(table.program() + ": error: argument --" + flag.name()
                    + ": ignored explicit argument '" + inline.get() + "'");
        }
        return List.of("true");
    }

    private Optional<String> booleanWord() {
        boolean isOne = next < words.size() && BOOLEANS.contains(words.get(next).toLowerCase(Locale.ROOT));
        return isOne ? Optional.of(words.get(next++)) : Optional.empty();
    }

    private String single(Flag flag, Optional<String> inline) {
        if (inline.isPresent()) {
            return inline.get();
        }
        if (next < words.size() && !isFlag(words.get(next))) {
            return words.get(next++);
        }
        throw new ScenarioException("--" + flag.name() + " needs a value");
    }

    /** An empty value is that of a variable that is not set; a flag without effect takes anything. */
    private String sized(Flag flag, String text) {
        return flag.hasEffect() && !text.isBlank() ? table.size(flag, text) : text;
    }

    private List<String> following() {
        int first = next;
        while (next < words.size() && !isFlag(words.get(next))) {
            next++;
        }
        return List.copyOf(words.subList(first, next));
    }

    /** A negative number is a value. */
    private static boolean isFlag(String word) {
        return word.length() > 1 && word.charAt(0) == '-' && !Character.isDigit(word.charAt(1));
    }
}
