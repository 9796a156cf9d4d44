package understudy.workload.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class FilesOfTraceTest {
    private static final int RECORD_BYTES = 512;

    @TempDir
    private Path directory;

    @Test
    void archiveAndDirectory_giveTheSameFiles() throws IOException {
        Files.createDirectories(directory.resolve("d/a"));
        Files.writeString(directory.resolve("d/a/one.csv"), "1,2\n");
        Files.writeString(directory.resolve("d/two.csv"), "x".repeat(2000));
        Files.writeString(directory.resolve("d/two.txt"), "not wanted");
        var tar = tar(
                entry("a/one.csv", '0', "1,2\n"), entry("two.txt", '0', "no"), entry("two.csv", '0', "x".repeat(2000)));

        assertThat(visit(tar))
                .isEqualTo(visit(directory.resolve("d")))
                .hasSize(2)
                .containsEntry("a/one.csv", "1,2\n");
        assertThat(visit(gzip(tar))).hasSize(2);
    }

    @Test
    void longNames_areThoseOfGnuAndPosix() throws IOException {
        String name = "d/".repeat(80) + "long.csv";

        assertThat(visit(tar(entry("././@LongLink", 'L', name + "\0"), entry("short", '0', "gnu"))))
                .containsEntry(name, "gnu");
        assertThat(visit(tar(entry("pax", 'x', "30 mtime=1\n200 path=" + name + "\n"), entry("short", '0', "posix"))))
                .containsEntry(name, "posix");
    }

    @ParameterizedTest
    @ValueSource(strings = {"../evil.csv", "a/../../evil.csv", "/etc/evil.csv", "a\\..\\evil.csv", "C:/evil.csv"})
    void entryOutsideTheArchive_isRefused(String name) throws IOException {
        var tar = tar(entry(name, '0', "1"));

        assertThatThrownBy(() -> visit(tar))
                .isInstanceOf(TraceException.class)
                .hasMessage(tar + ": the entry " + name + " lies outside of the archive");
    }

    /** 128 MiB of zeros are some 130 kB, a thousandth; 200 times the size is what a file may expand to beyond 64 MiB. */
    @Test
    void bomb_isRefusedWhereverItIs() throws IOException {
        for (String name : new String[] {"bomb.csv", "bomb.txt"}) {
            var file = directory.resolve(name + ".tar.gz");
            try (var out = new GZIPOutputStream(Files.newOutputStream(file))) {
                out.write(header(name, '0', 1 << 27));
                for (int i = 0; i < 1 << 7; i++) {
                    out.write(new byte[1 << 20]);
                }
            }

            assertThat(Files.size(file)).isLessThan(200_000);
            assertThatThrownBy(() -> visit(file))
                    .isInstanceOf(TraceException.class)
                    .hasMessage(file + ": expands to more than 200 times its size, which no trace does");
        }
    }

    @Test
    void hugeFile_isRefusedBeforeItIsRead() throws IOException {
        var tar = Files.write(directory.resolve("huge.tar"), header("huge.csv", '0', 1L << 32));

        assertThatThrownBy(() -> visit(tar)).hasMessage(tar + ": huge.csv has 4294967296 bytes, more than 268435456");
    }

    /** In GNU's headers, which say "ustar " and not "ustar", 0, "00", times may stand where POSIX has a prefix. */
    @Test
    void prefixOfAName_isOnlyThatOfPosix() throws IOException {
        byte[] gnu = entry("gnu.csv", '0', "1");
        byte[] posix = entry("posix.csv", '0', "2");
        put(gnu, 257, "ustar  ");
        put(posix, 263, "00");
        for (byte[] entry : List.of(gnu, posix)) {
            put(entry, 345, "dir");
            putSum(entry);
        }

        assertThat(visit(tar(gnu, posix))).containsOnlyKeys("gnu.csv", "dir/posix.csv");
    }

    @Test
    void damagedHeader_isReported() throws IOException {
        byte[] entry = entry("a.csv", '0', "1");
        entry[100]++;
        var tar = tar(entry);

        assertThatThrownBy(() -> visit(tar)).hasMessage(tar + ": is no tar archive, or damaged");
    }

    @Test
    void linksAreNotFiles() throws IOException {
        assertThat(visit(tar(entry("link.csv", '2', ""), entry("dir.csv/", '5', ""))))
                .isEmpty();
    }

    @Test
    void whatIsNoArchive_isReported() throws IOException {
        var text = Files.writeString(directory.resolve("a.txt"), "hello\n");
        var cut = Files.write(directory.resolve("cut.tar"), header("a.csv", '0', 100));

        assertThatThrownBy(() -> visit(text)).hasMessage(text + ": is no tar archive, or damaged");
        assertThatThrownBy(() -> visit(cut)).hasMessage(cut + ": cannot be read: it ends in the middle");
        assertThatThrownBy(() -> visit(directory.resolve("none"))).hasMessageEndingWith("none: no such file");
    }

    private static Map<String, String> visit(Path path) {
        var found = new TreeMap<String, String>();
        FilesOfTrace.visit(
                path,
                name -> name.endsWith(".csv"),
                (name, content) -> found.put(name, new String(content, StandardCharsets.UTF_8)));
        return found;
    }

    private Path gzip(Path file) throws IOException {
        var gzip = directory.resolve("archive.data");
        try (var out = new GZIPOutputStream(Files.newOutputStream(gzip))) {
            Files.copy(file, out);
        }
        return gzip;
    }

    private Path tar(byte[]... entries) throws IOException {
        var file = directory.resolve("archive.tar");
        try (OutputStream out = Files.newOutputStream(file)) {
            for (byte[] entry : entries) {
                out.write(entry);
            }
            out.write(new byte[2 * RECORD_BYTES]);
        }
        return file;
    }

    private static byte[] entry(String name, char type, String content) throws IOException {
        byte[] bytes = content.getBytes(StandardCharsets.UTF_8);
        var out = new ByteArrayOutputStream();
        out.write(header(name, type, bytes.length));
        out.write(bytes);
        out.write(new byte[(RECORD_BYTES - bytes.length % RECORD_BYTES) % RECORD_BYTES]);
        return out.toByteArray();
    }

    private static byte[] header(String name, char type, long size) {
        var header = new byte[RECORD_BYTES];
        put(header, 0, name);
        put(header, 124, String.format("%011o", size));
        header[156] = (byte) type;
        put(header, 257, "ustar");
        putSum(header);
        return header;
    }

    /** Adds up the bytes of the header, with blanks in the place of the sum. */
    private static void putSum(byte[] entry) {
        put(entry, 148, "        ");
        int sum = 0;
        for (int i = 0; i < RECORD_BYTES; i++) {
            sum += entry[i];
        }
        put(entry, 148, String.format("%06o\0 ", sum));
    }

    private static void put(byte[] header, int at, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        System.arraycopy(bytes, 0, header, at, bytes.length);
    }
}
