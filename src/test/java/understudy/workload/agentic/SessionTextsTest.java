package understudy.workload.agentic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static understudy.workload.agentic.Sessions.request;
import static understudy.workload.agentic.Sessions.session;
import static understudy.workload.agentic.Sessions.write;
import static understudy.workload.files.ArchiveBytes.bytes;
import static understudy.workload.files.ArchiveBytes.entry;
import static understudy.workload.files.ArchiveBytes.gzip;
import static understudy.workload.files.ArchiveBytes.tar;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.workload.files.ArchiveBytes;
import understudy.workload.files.TraceException;

/** Sessions in folders, archives and files. Each test's sessions have one prompt of 100, 200 and 300 tokens. */
final class SessionTextsTest {
    @TempDir
    private Path folder;

    @Test
    void folder_isReadInOrderOfNames() throws IOException {
        Files.createDirectory(folder.resolve("b"));
        write(folder, "c.json", ofLength(300));
        Files.write(folder.resolve("b/x.json.gz"), gzip(bytes(ofLength(200))));
        write(folder, "a.jsonl", ofLength(100) + "\n");
        write(folder, "LICENSE", "of no meaning here");

        assertThat(lengths(folder)).containsExactly(100, 200, 300);
    }

    @Test
    void jsonLines_mayHaveBlankLinesAndNoEnd() throws IOException {
        var file = write(folder, "all.jsonl", ofLength(100) + "\n\n \r\n" + ofLength(200) + "\r\n" + ofLength(300));

        assertThat(lengths(file)).containsExactly(100, 200, 300);
    }

    /** The bad session is on line 3; what follows it on its line is passed over with it. */
    @Test
    void badLine_isNamed_andTheNextOneRead() throws IOException {
        var file = write(folder, "all.jsonl", ofLength(100) + "\n\n{\"requests\":7, \"t\":[}\n" + ofLength(300));

        assertThatThrownBy(() -> lengths(file)).hasMessageContaining("all.jsonl:3: requests must be an array");
        assertThat(lengths(file, "on-bad-session = skip")).containsExactly(100, 300);
    }

    @ParameterizedTest
    @ValueSource(strings = {"all.tar", "all.tar.gz", "all.tgz"})
    void tar_isReadAsItStands(String name) throws IOException {
        var longName = "traces/" + "long/".repeat(40) + "x.json";
        byte[] tar = tar(
                entry("traces/", '5', ""),
                entry("README.md", '0', "of no meaning"),
                entry("traces/z.json", '0', ofLength(100)),
                entry("././@LongLink", 'L', longName + "\0"),
                entry(longName.substring(0, 99), '0', ofLength(200)),
                entry("PaxHeader", 'x', "11 mtime=1\n22 path=traces/b.json\n"),
                entry("b", '0', gzip(bytes(ofLength(300)))));
        byte[] content = name.endsWith("gz") ? gzip(tar) : tar;

        assertThat(lengths(Files.write(folder.resolve(name), content))).containsExactly(100, 200, 300);
    }

    @Test
    void zip_isReadInOrderOfNames() throws IOException {
        var zip = zip(
                "b.json",
                bytes(ofLength(200)),
                "c.json.gz",
                gzip(bytes(ofLength(300))),
                "a.json",
                bytes(ofLength(100)));

        assertThat(lengths(zip)).containsExactly(100, 200, 300);
    }

    @Test
    void archive_mayNotNameFilesOutsideOfIt() throws IOException {
        byte[] tar = tar(entry("traces/../../a.json", '0', ofLength(100)));

        assertThatThrownBy(() -> lengths(Files.write(folder.resolve("all.tar"), tar)))
                .hasMessageContaining("all.tar: the entry traces/../../a.json lies outside of the archive");
        assertThatThrownBy(() -> lengths(zip("a.json", bytes(ofLength(100)), "/b.json", bytes(ofLength(100)))))
                .hasMessageContaining("the entry /b.json lies outside");
    }

    /** 300 MiB of blanks, which gzip makes a thousandth of. */
    @Test
    void session_mayNotUnpackToAnyLength() throws IOException {
        var packed = new ByteArrayOutputStream();
        try (var out = new GZIPOutputStream(packed)) {
            var blanks = new byte[1 << 20];
            Arrays.fill(blanks, (byte) ' ');
            for (int i = 0; i < 300; i++) {
                out.write(blanks);
            }
        }

        assertThatThrownBy(() -> lengths(zip("a.json.gz", packed.toByteArray())))
                .isInstanceOf(TraceException.class)
                .hasMessageContaining("a.json.gz:1: the session is longer than 268435456 bytes");
    }

    @Test
    void whatIsNoTar_isRefused() throws IOException {
        var file = write(folder, "all.tar", "x".repeat(2000));

        assertThatThrownBy(() -> lengths(file)).hasMessageContaining("all.tar: is no tar archive, or damaged");
    }

    @Test
    void order_ofAStreamCannotBeShuffled() throws IOException {
        var file = write(folder, "all.jsonl", ofLength(100));

        assertThatThrownBy(() -> lengths(file, "order = shuffled")).hasMessageContaining("can be shuffled");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "[]|a session must be a JSON object",
                "{}|there is no field requests",
                "{\"requests\":[]}|the session has no requests",
                "{\"requests\":[7]}|requests must be objects",
                "{\"requests\":[{\"in\":5}]}|must have a time, t",
                "{\"requests\":[{\"t\":0}]}|must have in",
                "{\"requests\":[{\"t\":-1,\"in\":5}]}|t must be a number of seconds from 0",
                "{\"requests\":[{\"t\":0,\"in\":5.5}]}|in must be a whole number",
                "{\"requests\":[{\"t\":0,\"in\":99999999999999999999}]}|a number is out of range",
                "{\"requests\":[{\"t\":0,\"in\":5,\"hash_ids\":[\"x\"]}]}|hash_ids must be an array of whole numbers",
                "{\"requests\":[{\"t\":0,\"in\":5}],\"block_size\":16}|block_size must come before",
                "{\"requests\":[{\"t\":0,\"in\":5}|is no JSON: Unexpected end-of-input",
                "{\"requests\":[{\"t\":0,\"in\":5}]} {}|something follows the session"
            })
    void badSession_isNamedWithItsLine(String textAndProblem) throws IOException {
        var parts = textAndProblem.split("\\|", 2);
        var file = write(folder, "a.json", parts[0]);

        assertThatThrownBy(() -> lengths(file))
                .isInstanceOf(TraceException.class)
                .hasMessageStartingWith(file + ":1: ")
                .hasMessageContaining(parts[1]);
    }

    private static String ofLength(int numTokens) {
        return session(request(0, 0, numTokens, 1, 1));
    }

    private Path zip(Object... namesAndContents) throws IOException {
        return Files.write(folder.resolve("all.zip"), ArchiveBytes.zip(namesAndContents));
    }

    private static List<Integer> lengths(Path path, String... settings) {
        try (var workload = Sessions.open(path, settings)) {
            var lengths = new ArrayList<Integer>();
            for (var next = workload.next(); next != null; next = workload.next()) {
                lengths.add(next.prompt().length());
            }
            return lengths;
        }
    }
}
