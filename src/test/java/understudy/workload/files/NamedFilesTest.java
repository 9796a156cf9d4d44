package understudy.workload.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static understudy.workload.files.ArchiveBytes.bytes;
import static understudy.workload.files.ArchiveBytes.entry;
import static understudy.workload.files.ArchiveBytes.gzip;
import static understudy.workload.files.ArchiveBytes.header;
import static understudy.workload.files.ArchiveBytes.put;
import static understudy.workload.files.ArchiveBytes.putSum;
import static understudy.workload.files.ArchiveBytes.tar;
import static understudy.workload.files.ArchiveBytes.zip;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

final class NamedFilesTest {
    @TempDir
    private Path directory;

    @Test
    void archivesAndDirectory_giveTheSameFiles() throws IOException {
        Files.createDirectories(directory.resolve("d/a"));
        Files.writeString(directory.resolve("d/a/one.csv"), "1,2\n");
        Files.writeString(directory.resolve("d/two.csv"), "x".repeat(2000));
        Files.writeString(directory.resolve("d/two.txt"), "not wanted");
        byte[] tar = tar(
                entry("a/one.csv", '0', "1,2\n"), entry("two.txt", '0', "no"), entry("two.csv", '0', "x".repeat(2000)));
        byte[] zip = zip("two.txt", bytes("no"), "two.csv", bytes("x".repeat(2000)), "a/one.csv", bytes("1,2\n"));

        assertThat(read(write("archive.tar", tar)))
                .isEqualTo(read(directory.resolve("d")))
                .isEqualTo(read(write("archive.zip", zip)))
                .isEqualTo(read(write("archive.data", gzip(tar))))
                .hasSize(2)
                .containsEntry("a/one.csv", "1,2\n");
    }

    /** "200 path=" and a line break are 10 bytes, and the name has 2 x 91 + 8 = 190. */
    @Test
    void longNames_areThoseOfGnuAndPosix() throws IOException {
        String name = "d/".repeat(91) + "long.csv";

        assertThat(read(archive(entry("././@LongLink", 'L', name + "\0"), entry("short", '0', "gnu"))))
                .containsEntry(name, "gnu");
        assertThat(read(archive(
                        entry("pax", 'x', "11 mtime=1\n200 path=" + name + "\n"), entry("short", '0', "posix"))))
                .containsEntry(name, "posix");
    }

    @ParameterizedTest
    @ValueSource(strings = {"../evil.csv", "a/../../evil.csv", "/etc/evil.csv", "a\\..\\evil.csv", "C:/evil.csv"})
    void entryOutsideTheArchive_isRefused(String name) throws IOException {
        var tar = archive(entry(name, '0', "1"));

        assertThatThrownBy(() -> read(tar))
                .isInstanceOf(TraceException.class)
                .hasMessage(tar + ": the entry " + name + " lies outside of the archive");
    }

    @Test
    void entryOutsideAZip_isRefused() throws IOException {
        var zip = write("all.zip", zip("a.csv", bytes("1"), "../b.txt", bytes("2")));

        assertThatThrownBy(() -> read(zip)).hasMessage(zip + ": the entry ../b.txt lies outside of the archive");
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

            assertBomb(file);
        }
    }

    /** Three files of 32 MiB of zeros, each within the 64 MiB that are always allowed. */
    @Test
    void bombOfManyFilesInAZip_isRefused() throws IOException {
        var zeros = new byte[1 << 25];

        assertBomb(write("bomb.zip", zip("a.csv", zeros, "b.csv", zeros, "c.csv", zeros)));
    }

    private static void assertBomb(Path file) throws IOException {
        assertThat(Files.size(file)).isLessThan(200_000);
        assertThatThrownBy(() -> read(file))
                .isInstanceOf(TraceException.class)
                .hasMessage(file + ": expands to more than 200 times its size, which no trace does");
    }

    @Test
    void hugeFile_isRefusedBeforeItIsRead() throws IOException {
        var tar = write("huge.tar", header("huge.csv", '0', 1L << 32));

        assertThatThrownBy(() -> read(tar)).hasMessage(tar + "/huge.csv: has 4294967296 bytes, more than 268435456");
    }

    /** The library would hold a name of any length. */
    @ParameterizedTest
    @ValueSource(chars = {'L', 'x', 'g'})
    void hugeName_isRefusedBeforeItIsHeld(char type) throws IOException {
        String length = type == 'L' ? "" : "300000 path=";
        var tar = archive(entry("long", type, length + "x".repeat(300_000)), entry("a.csv", '0', "1"));

        assertThatThrownBy(() -> read(tar)).hasMessage(tar + ": has an entry with a header of more than 131072 bytes");
    }

    /** In GNU's headers, which say "ustar " and not "ustar", 0, "00", times may stand where POSIX has a prefix. */
    @Test
    void prefixOfAName_isOnlyThatOfPosix() throws IOException {
        byte[] gnu = entry("gnu.csv", '0', "1");
        byte[] posix = entry("posix.csv", '0', "2");
        put(gnu, 257, "ustar  ");
        put(posix, 263, "00");
        put(gnu, 345, "12345670123");
        put(posix, 345, "dir");
        putSum(gnu);
        putSum(posix);

        assertThat(read(archive(gnu, posix))).containsOnlyKeys("gnu.csv", "dir/posix.csv");
    }

    @Test
    void damagedHeader_isReported() throws IOException {
        byte[] entry = entry("a.csv", '0', "1");
        entry[100]++;
        var tar = archive(entry);

        assertThatThrownBy(() -> read(tar)).hasMessage(tar + ": is no tar archive, or damaged");
    }

    @Test
    void linksAreNotFiles() throws IOException {
        assertThat(read(archive(entry("link.csv", '2', ""), entry("dir.csv/", '5', ""))))
                .isEmpty();
    }

    @Test
    void whatIsNoArchive_isReported() throws IOException {
        var text = write("a.txt", bytes("hello\n"));
        var zip = write("a.zip", bytes("hello\n"));

        assertThatThrownBy(() -> read(text)).hasMessage(text + ": is no tar archive, or damaged");
        assertThatThrownBy(() -> read(zip)).hasMessage(zip + ": cannot be read: Archive is not a ZIP archive");
        for (String none : List.of("none.tar", "none.zip")) {
            assertThatThrownBy(() -> read(directory.resolve(none))).hasMessageEndingWith(none + ": no such file");
        }
    }

    @Test
    void archiveThatEndsInTheMiddle_isReportedWithItsEntry() throws IOException {
        var wanted = write("wanted.tar", Arrays.copyOf(tar(entry("a.csv", '0', "x".repeat(100))), 600));
        var other = write("other.tar", Arrays.copyOf(tar(entry("a.txt", '0', "x".repeat(100))), 600));
        byte[] gzip = gzip(tar(entry("a.csv", '0', "1")));
        var packed = write("a.tar.gz", Arrays.copyOf(gzip, gzip.length - 30));

        assertThatThrownBy(() -> read(wanted)).hasMessage(wanted + "/a.csv: cannot be read: Truncated TAR archive");
        assertThatThrownBy(() -> read(other)).hasMessage(other + "/a.txt: cannot be read: Truncated TAR archive");
        assertThatThrownBy(() -> read(packed)).hasMessage(packed + ": cannot be read: it ends in the middle");
    }

    static Stream<byte[]> archives() {
        byte[] tar = tar(
                entry("././@LongLink", 'L', "a/".repeat(60) + "a.csv\0"),
                entry("a", '0', "1"),
                entry("pax", 'x', "15 path=b.csv\n"),
                entry("b", '0', "2"));
        return Stream.of(tar, gzip(tar), zip("a.csv", bytes("1"), "b/b.csv", bytes("2".repeat(100))));
    }

    /** Wherever an archive ends, and whatever becomes of one of its bytes, it is read, or there is one line about it. */
    @ParameterizedTest
    @MethodSource("archives")
    void damage_isReportedInOneLine(byte[] archive) throws IOException {
        String name = archive[0] == 'P' ? "all.zip" : "all.tar";
        for (int i = 0; i < archive.length; i += 3) {
            assertReadOrReported(write(name, Arrays.copyOf(archive, i)));
            byte[] damaged = archive.clone();
            damaged[i] ^= (byte) (1 << i % 8);
            assertReadOrReported(write(name, damaged));
        }
    }

    private static void assertReadOrReported(Path file) {
        try {
            read(file);
        } catch (TraceException e) {
            assertThat(e.getMessage()).startsWith(file.toString()).doesNotContain("\n");
        }
    }

    private static Map<String, String> read(Path path) {
        var found = new TreeMap<String, String>();
        try (var files = NamedFiles.open(path, name -> name.endsWith(".csv"))) {
            for (var file = files.next(); file != null; file = files.next()) {
                found.put(file.name(), new String(file.readAll(), StandardCharsets.UTF_8));
            }
        }
        return found;
    }

    private Path write(String name, byte[] content) throws IOException {
        return Files.write(directory.resolve(name), content);
    }

    private Path archive(byte[]... entries) throws IOException {
        return write("archive.tar", tar(entries));
    }
}
