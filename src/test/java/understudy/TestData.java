package understudy;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.zip.GZIPInputStream;

/**
 * Data of tests: our own recordings, which are resources and always there, and public data sets, which are not ours to
 * publish. Those are looked for in a folder of {@code -Dunderstudy.data=DIR}; the manual's page on data says where they come
 * from.
 */
public final class TestData {
    private static final String PROPERTY = "understudy.data";

    private static final String HELP = "; -Dunderstudy.data=DIR names a folder with public data sets, and"
            + " src/site/markdown/data.md says where they come from";

    private TestData() {}

    /** Returns a recording as a file, gzip'd if it is. */
    public static Path recording(String name) {
        var url = Objects.requireNonNull(TestData.class.getResource("recordings/" + name), name);
        try {
            return Path.of(url.toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Opens a gzip'd recording. */
    public static InputStream open(String name) {
        try {
            return new GZIPInputStream(Files.newInputStream(recording(name)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the lines of a recording that is plain text. */
    public static List<String> lines(String name) {
        try (var reader = new BufferedReader(new InputStreamReader(
                Objects.requireNonNull(TestData.class.getResourceAsStream("recordings/" + name), name),
                StandardCharsets.UTF_8))) {
            return reader.lines().toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns a file or folder of a public data set; skips the test if it is not there. */
    public static Path require(String name) {
        String folder = System.getProperty(PROPERTY, "");
        assumeTrue(!folder.isEmpty(), "skipped: " + PROPERTY + " is not set" + HELP);
        var path = Path.of(folder, name);
        assumeTrue(Files.exists(path), "skipped: there is no " + path + HELP);
        return path;
    }
}
