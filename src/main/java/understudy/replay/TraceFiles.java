package understudy.replay;

import java.io.ByteArrayInputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.workload.files.CountedInput;
import understudy.workload.files.TraceException;
import understudy.workload.files.TraceFile;
import understudy.workload.trace.TraceLines;

/** Several Mooncake traces, one after the other, as one. */
final class TraceFiles implements Closeable {
    private static final String AZURE_HEADER = "TIMESTAMP,ContextTokens";
    private static final String BYTE_ORDER_MARK = "\ufeff";

    private final List<Path> files;
    private final long totalBytes;
    private int fileIndex;
    private long numBytesOfEarlier;
    private boolean isFileEmpty;
    private @Nullable CountedInput input;
    private @Nullable TraceLines lines;

    /** Checks that all files are there; only the first will be opened soon. */
    TraceFiles(List<Path> files) {
        this.files = List.copyOf(files);
        totalBytes = files.stream().mapToLong(TraceFiles::size).sum();
    }

    private static long size(Path file) {
        if (!Files.exists(file)) {
            throw new TraceException(file.toString(), "no such file");
        }
        try {
            return Files.isRegularFile(file) ? Files.size(file) : 0; // a pipe says nothing about its length
        } catch (IOException e) {
            throw TraceFile.unreadable(file.toString(), e);
        }
    }

    /**
     * Returns the next request's line, or null at the end.
     *
     * @throws TraceException if it cannot be used, or a file has none
     */
    @Nullable TraceLines next() {
        while (lines != null || fileIndex < files.size()) {
            if (lines == null) {
                lines = open(files.get(fileIndex++));
                isFileEmpty = true;
            }
            if (lines.next()) {
                isFileEmpty = false;
                return lines;
            }
            close();
            if (isFileEmpty) {
                throw new TraceException(files.get(fileIndex - 1).toString(), "the trace has no requests");
            }
        }
        return null;
    }

    /** Returns the share of the files read so far, from 0 to 1; 0 as long as that is not known. */
    double share() {
        long numBytes = numBytesOfEarlier + (input == null ? 0 : input.numBytes());
        return totalBytes == 0 ? 0 : Math.min(1, (double) numBytes / totalBytes);
    }

    @Override
    public void close() {
        if (lines != null && input != null) {
            numBytesOfEarlier += input.numBytes();
            lines.close();
        }
        lines = null;
        input = null;
    }

    private TraceLines open(Path file) {
        String name = file.toString();
        try {
            input = new CountedInput(Files.newInputStream(file));
            return new TraceLines(refusingAzure(TraceFile.decompressed(input), name), name);
        } catch (IOException e) {
            throw TraceFile.unreadable(name, e);
        }
    }

    /** An Azure trace is easily taken for the right kind, so it is told from one that is only malformed. */
    private static InputStream refusingAzure(InputStream in, String file) throws IOException {
        byte[] start = in.readNBytes(BYTE_ORDER_MARK.length() * 3 + AZURE_HEADER.length());
        var text = new String(start, StandardCharsets.UTF_8);
        if (text.startsWith(AZURE_HEADER) || text.startsWith(BYTE_ORDER_MARK + AZURE_HEADER)) {
            throw new TraceException(
                    file,
                    1,
                    "an Azure trace says how long prompts are, but nothing about their content, so no prefix can be found"
                            + " again; needs JSON lines with hash_ids, as Mooncake's traces have");
        }
        return new SequenceInputStream(new ByteArrayInputStream(start), in);
    }
}
