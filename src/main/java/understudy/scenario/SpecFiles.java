package understudy.scenario;

import java.io.IOException;
import java.net.JarURLConnection;
import java.net.URISyntaxException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.commons.text.similarity.LevenshteinDistance;
import understudy.settings.Hocon;
import understudy.settings.KnownKeys;
import understudy.settings.ScenarioException;
import understudy.settings.Section;

/** A folder of small files that describe models or GPUs, bundled with the program; others are given by path. */
public final class SpecFiles {
    public static final SpecFiles MODELS = new SpecFiles("conf/models", "model-defaults.conf", "model");
    public static final SpecFiles GPUS = new SpecFiles("conf/gpus", "gpu-defaults.conf", "GPU");

    private static final LevenshteinDistance DISTANCE = LevenshteinDistance.getDefaultInstance();
    private static final ClassLoader LOADER = SpecFiles.class.getClassLoader();
    private static final String SUFFIX = ".conf";
    private static final Pattern BUNDLED = Pattern.compile("[a-z0-9.-]+");

    private final String folder;
    private final String what;
    private final Section defaults;

    private SpecFiles(String folder, String defaultsFile, String what) {
        this.folder = folder;
        this.what = what;
        defaults = Hocon.defaults(defaultsFile).resolve();
    }

    /** Returns all bundled files with their defaults filled in, by name. */
    public List<Section> all() {
        return names().stream().map(this::bundled).toList();
    }

    /** Returns whether a text is the path of a file on disk, not a name. */
    public static boolean isPath(String text) {
        return text.endsWith(SUFFIX) || Files.isRegularFile(Path.of(text));
    }

    /** Returns the file on disk with its defaults filled in. */
    public Section read(Path file) {
        if (!Files.isRegularFile(file)) {
            throw new ScenarioException(file + ": no such file");
        }
        String name = file.toString();
        return Hocon.checked(name, () -> filledIn(name, Hocon.file(file).resolve()));
    }

    /** Returns a file that says nothing but a name. */
    public Section blank(String name) {
        return filledIn(name, Section.of(Map.of("name", name)));
    }

    /**
     * Returns the bundled file with a name or an alias; case, an organization in front and "-instruct" do not count.
     */
    public Optional<Section> find(String name) {
        if (BUNDLED.matcher(name).matches() && LOADER.getResource(folder + "/" + name + SUFFIX) != null) {
            return Optional.of(bundled(name)); // without a list of all of them, which takes some time
        }
        String wanted = plain(name);
        for (String bundled : names()) {
            if (plain(bundled).equals(wanted)) {
                return Optional.of(bundled(bundled));
            }
        }
        return all().stream()
                .filter(file -> file.texts("aliases").stream()
                        .anyMatch(alias -> plain(alias).equals(wanted)))
                .findFirst();
    }

    /** Lists the valid names, for an error about an invalid one. */
    public String allowed(String name) {
        String nearest = all().stream()
                .flatMap(file -> Stream.concat(Stream.of(file.text("name")), file.texts("aliases").stream()))
                .min(Comparator.comparingInt((String n) -> DISTANCE.apply(plain(name), n)))
                .orElseThrow();
        return "must be a " + what + " of '" + "understudy " + folder.substring(folder.indexOf('/') + 1)
                + "' or the path of a file; the nearest name is " + nearest;
    }

    private Section bundled(String name) {
        String resource = folder + "/" + name + SUFFIX;
        return filledIn(resource, Hocon.resource(resource));
    }

    private Section filledIn(String name, Section file) {
        new KnownKeys(defaults).check(file);
        for (String key : defaults.keys()) {
            // A key without a default is null there.
            if (!defaults.has(key) && !file.has(key)) {
                throw new ScenarioException(name + ": " + key + " is missing");
            }
        }
        return file.withFallback(defaults);
    }

    private List<String> names() {
        try {
            var url = LOADER.getResource(folder);
            if (url == null) {
                throw new IllegalStateException(folder + " is not bundled");
            }
            return url.openConnection() instanceof JarURLConnection inJar
                    ? namesInJar(Path.of(inJar.getJarFileURL().toURI()))
                    : namesIn(Path.of(url.toURI()));
        } catch (IOException | URISyntaxException e) {
            throw new IllegalStateException(folder + " cannot be listed", e);
        }
    }

    /** Opens the jar for this call alone, since other threads may have it open. */
    private List<String> namesInJar(Path file) throws IOException {
        try (var jar = FileSystems.newFileSystem(file)) {
            return namesIn(jar.getPath(folder));
        }
    }

    private static List<String> namesIn(Path directory) throws IOException {
        try (var files = Files.list(directory)) {
            return files.map(file -> String.valueOf(file.getFileName()))
                    .filter(name -> name.endsWith(SUFFIX))
                    .map(name -> name.substring(0, name.length() - SUFFIX.length()))
                    .sorted()
                    .collect(Collectors.toCollection(ArrayList::new));
        }
    }

    private static String plain(String name) {
        return name.substring(name.lastIndexOf('/') + 1)
                .toLowerCase(Locale.ROOT)
                .replaceAll("[ _]+", "-")
                .replaceAll("^nvidia-", "")
                .replaceAll("-(instruct|chat|hf)\\b", "");
    }
}
