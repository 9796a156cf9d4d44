package understudy.chaos.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Queue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** The newest output of a process in a file. */
final class OutputLogTest {
    private static final long LONG_MILLIS = 60_000;

    @TempDir
    private Path directory;

    private void write(Path file, int maxBytes, String... pieces) throws IOException {
        OutputLog.start(new Pieces(pieces), file, maxBytes).awaitEnd(LONG_MILLIS);
    }

    @Test
    void outputIsAppended() throws IOException {
        var file = Files.writeString(directory.resolve("log"), "before\n");

        write(file, 100, "one\n", "two\n");

        assertThat(file).hasContent("before\none\ntwo");
    }

    /** Pieces of 4, 4, 2 and 1 bytes make 11, one more than the file may have: of these the last 5 stay. */
    @Test
    void olderHalfGoesWhenTheFileIsFull() throws IOException {
        var file = directory.resolve("log");

        write(file, 10, "a123", "b123", "4c", "d");

        assertThat(file).hasContent("234cd");
    }

    /** No byte fits into this file: the process goes on all the same, and its output is read to the end. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void outputIsTakenThoughTheDiskIsFull() throws IOException {
        var output = new Pieces("one\n", "two\n");

        OutputLog.start(output, Path.of("/dev/full"), 100).awaitEnd(LONG_MILLIS);

        assertThat(output.available()).isZero();
    }

    @Test
    void fileInNoFolderIsRefused() {
        var file = directory.resolve("gone").resolve("log");

        assertThatIOException()
                .isThrownBy(() -> OutputLog.start(new Pieces("one\n"), file))
                .withMessageContaining(file.toString());
    }

    /** Output that comes in pieces. */
    private static final class Pieces extends InputStream {
        private final ByteArrayInputStream all;
        private final Queue<Integer> lengths = new ArrayDeque<>();

        Pieces(String... pieces) {
            all = new ByteArrayInputStream(String.join("", pieces).getBytes(StandardCharsets.US_ASCII));
            for (String piece : pieces) {
                lengths.add(piece.length());
            }
        }

        @Override
        public int read() {
            throw new UncheckedIOException(new IOException("is read in pieces"));
        }

        @Override
        public int read(byte[] bytes, int offset, int length) throws IOException {
            return lengths.isEmpty() ? -1 : all.read(bytes, offset, lengths.remove());
        }

        @Override
        public int available() {
            return all.available();
        }
    }
}
