package understudy.app.vllm;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import understudy.settings.ScenarioException;

/**
 * Words behind {@code vllm serve}, taken apart as vLLM's {@code FlexibleArgumentParser} does: {@code --a b}, {@code --a=b},
 * {@code --a_b}, {@code --json.key value}, several values behind one flag, unique beginnings of names. An unknown flag
 * ends the start, as there; but with {@code --omni} it is taken for a flag of vLLM-Omni, which has more, and passed
 * over with a warning, together with the words up to the next flag.
 */
final class VllmArguments {
    private static final String NO = "no-";
    private static final String OMNI = "omni";
    private static final Set<String> BOOLEANS = Set.of("true", "false");

    private final Map<String, List<String>> values = new LinkedHashMap<>();
    private final List<String> unrecognized = new ArrayList<>();
    private final List<String> warnings = new ArrayList<>();
    private final List<String> words;
    private String positional = "";
    private int next;
    private String typo = "";
    private final boolean isOmni;

    private VllmArguments(List<String> words) {
        this.words = words;
        isOmni = words.contains("--" + OMNI);
    }

    /**
     * Takes words apart; those of {@code --config} come first, so that the command line is stronger.
     *
     * @throws ScenarioException if a flag is unknown or lacks its value, or a value is of the wrong kind
     */
    static VllmArguments parse(List<String> words) {
        var given = new VllmArguments(words).read();
        var config = given.last("config");
        if (config.isPresent()) {
            var all = new ArrayList<>(ConfigFile.words(config.get()));
            all.addAll(words);
            given = new VllmArguments(all).read();
        }
        given.requireAllKnown();
        return given;
    }

    /** Fails as argparse does, in its words. */
    private void requireAllKnown() {
        if (!unrecognized.isEmpty()) {
            String nearest = typo.isEmpty() ? "" : " (did you mean --" + Flags.nearest(typo) + "?)";
            throw new ScenarioException(
                    "vllm: error: unrecognized arguments: " + String.join(" ", unrecognized) + nearest);
        }
    }

    /** Returns the last value of a flag. */
    Optional<String> last(String flag) {
        var given = all(flag);
        return given.isEmpty() ? Optional.empty() : Optional.of(given.get(given.size() - 1));
    }

    /** Returns the values of a flag where it stood last. */
    List<String> all(String flag) {
        return values.getOrDefault(flag, List.of());
    }

    /** Returns all values by flag, a key of a JSON flag being one of its own. */
    Map<String, List<String>> values() {
        return values;
    }

    /** Returns the model: the word without a flag, or {@code --model}. */
    Optional<String> model() {
        return positional.isEmpty() ? last("model") : Optional.of(positional);
    }

    List<String> warnings() {
        return warnings;
    }

    private VllmArguments read() {
        while (next < words.size()) {
            // Only this flag may have its value at once behind it.
            String word = words.get(next++).strip().replaceFirst("^-O(?=[0-9])", "-O=");
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
        String name = parts[0].replace('_', '-');
        var flag = Flags.find(name);
        boolean isNegated = flag.isEmpty() && name.startsWith(NO);
        if (isNegated) {
            flag = Flags.find(name.substring(NO.length())).filter(found -> found.kind() == Flag.Kind.SWITCH);
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
        if (isOmni) {
            var behind = following();
            warnings.add(written + " has no effect here: it is no flag of vLLM's, but may be one of vLLM-Omni"
                    + (behind.isEmpty() ? "" : "; nor has " + String.join(" ", behind)));
            return;
        }
        var candidates = Flags.beginningWith(name);
        if (candidates.size() > 1) {
            throw new ScenarioException("vllm serve: error: ambiguous option: " + written + " could match "
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
            case LIST -> inline.map(List::of).orElseGet(this::following);
            case SIZE -> List.of(sized(flag, single(flag, inline)));
            case TEXT, JSON, SECONDS -> List.of(single(flag, inline));
        };
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
    private static String sized(Flag flag, String text) {
        return flag.hasEffect() && !text.isBlank() ? Sizes.plain("--" + flag.name(), text) : text;
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
