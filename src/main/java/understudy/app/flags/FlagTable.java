package understudy.app.flags;

import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.BinaryOperator;
import java.util.stream.Stream;
import understudy.settings.KnownKeys;

/** Flags of an engine's server, those that are accepted without effect included. Others are unknown, and end the start. */
public final class FlagTable {
    private final String program;
    private final Spelling spelling;
    private final BinaryOperator<String> sizes;
    private final List<Flag> flags;
    private final Map<String, Flag> byName = new HashMap<>();

    /**
     * How a parser of Python's {@code argparse} has been taught to read flags.
     *
     * @param hasUnderscores whether an underscore in a name is a dash
     * @param aliasDashes what stands in front of all names but the first
     */
    public record Spelling(boolean hasUnderscores, String aliasDashes) {
        /** vLLM's {@code FlexibleArgumentParser}. */
        public static final Spelling OF_VLLM = new Spelling(true, "-");

        /** Python's own parser. */
        public static final Spelling OF_ARGPARSE = new Spelling(false, "--");
    }

    /**
     * Reads a table, a flag in each line: its names, joined by commas; its kind; and the setting that the value goes to, or *
     * and what it does, or - for no effect.
     *
     * @param program name of the program in its errors
     * @param sizes makes a plain number of a flag with dashes and a value of the kind {@link Flag.Kind#SIZE}
     */
    public FlagTable(String program, Spelling spelling, BinaryOperator<String> sizes, String table) {
        this.program = program;
        this.spelling = spelling;
        this.sizes = sizes;
        flags = table.lines().map(FlagTable::flag).toList();
        flags.forEach(flag -> flag.names().forEach(name -> byName.put(name, flag)));
    }

    private static Flag flag(String line) {
        String[] row = line.split(" +", 3);
        return new Flag(List.of(row[0].split(",")), Flag.Kind.valueOf(row[1].toUpperCase(Locale.ROOT)), row[2]);
    }

    /** Returns all flags. */
    public List<Flag> flags() {
        return flags;
    }

    String program() {
        return program;
    }

    Spelling spelling() {
        return spelling;
    }

    /** Returns a size as a plain number. */
    String size(Flag flag, String text) {
        return sizes.apply("--" + flag.name(), text);
    }

    /** Returns the flag of exactly this name, without dashes in front. */
    public Optional<Flag> named(String name) {
        return Optional.ofNullable(byName.get(name));
    }

    /** Returns the flag of a name, without dashes in front, or of a beginning that only one name has, as argparse does. */
    Optional<Flag> find(String name) {
        var exact = byName.get(name);
        if (exact != null || name.isEmpty()) {
            return Optional.ofNullable(exact);
        }
        var candidates = beginningWith(name);
        return candidates.size() == 1 ? Optional.ofNullable(byName.get(candidates.get(0))) : Optional.empty();
    }

    /** Returns the long names with a beginning. */
    List<String> beginningWith(String beginning) {
        return flags.stream()
                .flatMap(this::longNames)
                .filter(name -> name.startsWith(beginning))
                .toList();
    }

    private Stream<String> longNames(Flag flag) {
        return flag.names().stream().limit(spelling.aliasDashes().length() == 1 ? 1 : Integer.MAX_VALUE);
    }

    /** Returns the name that differs least from a mistyped one. */
    String nearest(String typo) {
        return KnownKeys.nearest(typo, flags.stream().map(Flag::name).toList());
    }
}
