package understudy.image;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The image that the build has written, its layers over a base system in a folder of {@code -Dunderstudy.image.root=DIR},
 * such as {@code debootstrap --variant=minbase --include=openjdk-17-jre-headless bookworm DIR} makes. The folder is not
 * changed: what runs is a copy beside it, of hard links.
 */
final class ImageFixture {
    private static final Path ARCHIVE = Path.of(System.getProperty("understudy.image", "target/understudy-image.tar"));
    private static final Path BASE = Path.of(System.getProperty("understudy.image.root", "target/image-root"));
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Path root;
    private final Path blobs;
    private final JsonNode config;

    private ImageFixture(Path folder) throws IOException, InterruptedException {
        root = folder.resolve("root");
        blobs = folder.resolve("blobs/sha256");
        run("tar", "xf", ARCHIVE.toString(), "-C", folder.toString());
        var index = JSON.readTree(folder.resolve("index.json").toFile());
        var manifest = blob(index.at("/manifests/0"));
        config = blob(manifest.path("config")).path("config");
        run("cp", "-al", BASE.toString(), root.toString());
        for (var layer : manifest.path("layers")) {
            run("tar", "xzf", file(layer).toString(), "-C", root.toString());
        }
    }

    /** Unpacks the image, or skips the test where there is none, no base system, or no right to change the root. */
    static ImageFixture unpack() throws IOException, InterruptedException {
        assumeTrue(Files.isRegularFile(ARCHIVE), "there is no image, which mvn -Pimage package makes: " + ARCHIVE);
        assumeTrue(Files.isDirectory(BASE.resolve("usr")), "there is no base system for the image: " + BASE);
        var parent = BASE.toAbsolutePath().normalize().getParent();
        assumeTrue(parent != null, "there is no folder beside " + BASE);
        var fixture = new ImageFixture(Files.createTempDirectory(parent, "understudy-image"));
        boolean canChangeRoot = fixture.start(List.of(), List.of("true")).waitFor() == 0;
        if (!canChangeRoot) {
            fixture.close();
        }
        assumeTrue(canChangeRoot, "the base system cannot be entered, for which unshare and chroot want root's rights");
        return fixture;
    }

    private JsonNode blob(JsonNode descriptor) throws IOException {
        return JSON.readTree(file(descriptor).toFile());
    }

    private Path file(JsonNode descriptor) {
        return blobs.resolve(descriptor.path("digest").asText().replace("sha256:", ""));
    }

    /** Returns where a file of the image is, such as {@code understudy/understudy.jar}. */
    Path path(String inside) {
        return root.resolve(inside);
    }

    /** Returns what a container runs that is given these arguments in place of the image's. */
    List<String> commandWith(List<String> arguments) {
        var words = words("Entrypoint");
        words.addAll(arguments);
        return words;
    }

    /** Returns what a container runs that is given nothing. */
    List<String> defaultCommand() {
        return commandWith(words("Cmd"));
    }

    private List<String> words(String key) {
        var words = new ArrayList<String>();
        config.path(key).forEach(word -> words.add(word.asText()));
        return words;
    }

    /** Starts a command as a container does: the image's user, folder and environment; the network is this machine's. */
    Process start(List<String> environment, List<String> command) throws IOException {
        var words = new ArrayList<>(List.of("unshare", "--mount", "--pid", "--fork"));
        words.add("--mount-proc=" + root.resolve("proc"));
        words.addAll(List.of("chroot", "--userspec=" + config.path("User").asText(), root.toString()));
        words.addAll(List.of("/usr/bin/env", "-i", "PATH=/usr/local/bin:/usr/bin:/bin"));
        config.path("Env").forEach(variable -> words.add(variable.asText()));
        words.addAll(environment);
        words.addAll(List.of(
                "sh",
                "-c",
                "cd \"$0\" && exec \"$@\"",
                config.path("WorkingDir").asText()));
        words.addAll(command);
        return new ProcessBuilder(words).redirectErrorStream(true).start();
    }

    /** Ends what {@link #start} has started; signals to unshare would not reach it. */
    static void end(Process process) throws InterruptedException {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.waitFor();
    }

    /** Runs a command to its end, and returns what it printed. */
    String output(String... command) throws IOException, InterruptedException {
        return said(start(List.of(), List.of(command)));
    }

    private static void run(String... command) throws IOException, InterruptedException {
        said(new ProcessBuilder(command).redirectErrorStream(true).start());
    }

    private static String said(Process process) throws IOException, InterruptedException {
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.waitFor() != 0) {
            throw new IOException(process.exitValue() + ": " + said);
        }
        return said;
    }

    void close() throws IOException, InterruptedException {
        run("rm", "-rf", "--one-file-system", String.valueOf(root.getParent()));
    }
}
