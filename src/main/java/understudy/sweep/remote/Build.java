package understudy.sweep.remote;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.jar.JarFile;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;

/** Tells one build of the program from another: results of different ones do not belong together. */
public final class Build {
    private Build() {}

    /**
     * Returns the version and a digest of what is in the jar, whatever the jar is called and begins with.
     *
     * @param version as the program says it
     */
    public static String of(String version) {
        var source = Build.class.getProtectionDomain().getCodeSource();
        try {
            var path = Path.of(source.getLocation().toURI());
            return Files.isRegularFile(path) ? version + ", build " + digest(path) : version;
        } catch (URISyntaxException | IOException e) {
            return version;
        }
    }

    private static String digest(Path path) throws IOException {
        var all = new CRC32();
        try (var jar = new JarFile(path.toFile(), false)) {
            jar.stream().filter(entry -> !entry.isDirectory()).forEach(entry -> add(all, entry));
        }
        return String.format("%08x", all.getValue());
    }

    private static void add(CRC32 all, ZipEntry entry) {
        all.update(entry.getName().getBytes(StandardCharsets.UTF_8));
        all.update(ByteBuffer.allocate(Long.BYTES).putLong(entry.getCrc()).flip());
    }
}
