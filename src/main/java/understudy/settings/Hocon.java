package understudy.settings;

import com.typesafe.config.ConfigException;
import com.typesafe.config.ConfigFactory;
import com.typesafe.config.ConfigParseOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Supplier;

/**
 * Parser of HOCON that others have written. It includes files on disk alone, so that a scenario reads nothing from the
 * network or the class path, and refuses what is nested too deeply to be parsed.
 */
public final class Hocon {
    private Hocon() {}

    /**
     * Parses a file; what it includes is looked for from its own folder.
     *
     * @throws RuntimeException if it is not HOCON; see {@link #checked}
     * @throws ScenarioException if it includes what it must not, or what is not there
     */
    public static Section file(Path file) {
        return new Section(ConfigFactory.parseFile(file.toFile(), options(new FileIncluder(file, List.of()))), "");
    }

    /**
     * Parses a text, which includes nothing.
     *
     * @param origin name of the text in messages
     * @throws RuntimeException if it is not HOCON; see {@link #checked}
     * @throws ScenarioException if it includes anything
     */
    public static Section text(String text, String origin) {
        var options = options(new NoIncluder(origin)).setOriginDescription(origin);
        return new Section(ConfigFactory.parseString(text, options), "");
    }

    /** Parses a file that is bundled with the program. */
    public static Section resource(String name) {
        return new Section(ConfigFactory.parseResources(Hocon.class.getClassLoader(), name), "");
    }

    /**
     * Parses a bundled file that includes nothing and explains each of its settings, which every command waits for. The
     * parser does not see lines that are comments, on which it would spend most of its time.
     */
    public static Section defaults(String name) {
        try (var file = Hocon.class.getClassLoader().getResourceAsStream(name)) {
            if (file == null) {
                throw new IllegalArgumentException(name + ": no such resource");
            }
            return text(withoutComments(new String(file.readAllBytes(), StandardCharsets.UTF_8)), name);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Empties the lines of a text that are comments, so that all others keep their numbers. */
    static String withoutComments(String text) {
        var rest = new StringBuilder();
        for (int start = 0; start < text.length(); ) {
            int newline = text.indexOf('\n', start);
            int end = newline < 0 ? text.length() : newline;
            int first = start;
            while (first < end && text.charAt(first) == ' ') {
                first++;
            }
            if (first < end && text.charAt(first) != '#') {
                rest.append(text, first, end);
            }
            rest.append('\n');
            start = end + 1;
        }
        return rest.toString();
    }

    static ConfigParseOptions options(RefusingIncluder includer) {
        return ConfigParseOptions.defaults().setIncluder(includer);
    }

    /**
     * Parses or merges something, and makes one line of what is wrong with it.
     *
     * @param name its name in messages that have no better place
     */
    public static <T> T checked(String name, Supplier<T> work) {
        try {
            return work.get();
        } catch (ConfigException e) {
            throw ScenarioException.of(e);
        } catch (StackOverflowError e) {
            throw new ScenarioException(name + ": nested too deeply to be read");
        }
    }
}
