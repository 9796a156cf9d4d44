package understudy.app;

import java.io.BufferedWriter;
import java.io.Closeable;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/**
 * File that appears complete or not at all: it is written under another name beside its place. A device or a pipe is
 * written through.
 */
final class NewFile implements Closeable {
    private final Path target;
    private final Path temporary;
    private final BufferedWriter writer;

    NewFile(Path file) throws IOException {
        target = Files.exists(file) ? file.toRealPath() : file;
        boolean isThrough = Files.exists(target) && !Files.isRegularFile(target);
        temporary = isThrough
                ? target
                : target.resolveSibling("." + target.getFileName() + "."
                        + ProcessHandle.current().pid() + ".tmp");
        writer = Files.newBufferedWriter(
                temporary,
                StandardCharsets.UTF_8,
                StandardOpenOption.WRITE,
                isThrough ? StandardOpenOption.WRITE : StandardOpenOption.CREATE_NEW);
    }

    /** Writes a whole file. */
    static void write(Path file, String text) throws IOException {
        try (var written = new NewFile(file)) {
            written.writer().write(text);
            written.keep();
        }
    }

    Writer writer() {
        return writer;
    }

    /** Moves the written file into its place. */
    void keep() throws IOException {
        writer.close();
        if (temporary.equals(target)) {
            return;
        }
        try {
            Files.move(temporary, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (AtomicMoveNotSupportedException e) {
            Files.move(temporary, target, StandardCopyOption.REPLACE_EXISTING);
        }
    }

    /** Removes the file unless it was kept. */
    @Override
    public void close() throws IOException {
        try {
            writer.close();
        } finally {
            if (!temporary.equals(target)) {
                Files.deleteIfExists(temporary);
            }
        }
    }
}
