package understudy.settings;

import com.typesafe.config.ConfigException;
import com.typesafe.config.ConfigFactory;
import com.typesafe.config.ConfigParseOptions;
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
