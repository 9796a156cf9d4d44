package understudy.settings;

import com.typesafe.config.ConfigFactory;
import com.typesafe.config.ConfigObject;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Includes the files that a file names, by paths from its own folder; one that is not there is an error. */
final class FileIncluder extends RefusingIncluder {
    /** Endings that a name may leave out. */
    private static final List<String> SUFFIXES = List.of("", ".conf", ".json", ".properties");

    private final Path file;
    private final List<Path> outer;

    /**
     * Creates the includer of one file.
     *
     * @param outer the files that include it, from the outermost one
     */
    FileIncluder(Path file, List<Path> outer) {
        this.file = file;
        this.outer = outer;
    }

    @Override
    ConfigObject includeNamed(String name) {
        var target = find(name);
        var chain = new ArrayList<>(outer);
        chain.add(file.toAbsolutePath().normalize());
        if (chain.contains(target.toAbsolutePath().normalize())) {
            throw unusable(name, "which includes this file");
        }
        var options = Hocon.options(new FileIncluder(target, List.copyOf(chain)));
        return ConfigFactory.parseFile(target.toFile(), options).root();
    }

    private Path find(String name) {
        try {
            if (!Path.of(name).isAbsolute()) {
                var named = file.resolveSibling(name);
                for (String suffix : SUFFIXES) {
                    var target = named.resolveSibling(named.getFileName() + suffix);
                    if (Files.isRegularFile(target)) {
                        return target;
                    }
                }
                throw unusable(name, "no such file: " + named);
            }
        } catch (InvalidPathException e) {
            throw unusable(name, "not a path: " + e.getReason());
        }
        throw unusable(name, ONLY_FILES);
    }

    @Override
    ScenarioException unusable(String name, String why) {
        return new ScenarioException(file + line(name) + ": include \"" + name + "\": " + why);
    }

    /** The parser does not say in which line it is, so the name is looked for. */
    private String line(String name) {
        try {
            var lines = Files.readString(file, StandardCharsets.UTF_8).lines().toList();
            for (int i = 0; i < lines.size(); i++) {
                if (lines.get(i).contains("include") && lines.get(i).contains("\"" + name + "\"")) {
                    return ":" + (i + 1);
                }
            }
        } catch (IOException e) {
            // The message does without a line.
        }
        return "";
    }
}
