package understudy.workload.trace;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;

/**
 * The regular files of a tar archive, one after the other: ustar, with the long names of GNU and of POSIX. Nothing is
 * ever written to disk; links and devices are passed over.
 */
final class TarInput {
    private static final int RECORD_BYTES = 512;
    private static final int MAX_NAME_BYTES = 1 << 16;
    private static final Pattern PAX_PATH = Pattern.compile("^\\d+ path=(.*)$", Pattern.MULTILINE);

    private final InputStream in;
    private final String archive;
    private final byte[] header = new byte[RECORD_BYTES];
    private String name = "";
    private String longName = "";
    private long size;
    private long left;

    /** Reads from {@code in}, which stays the caller's; the archive's name is for messages. */
    TarInput(InputStream in, String archive) {
        this.in = in;
        this.archive = archive;
    }

    /** Goes to the next regular file, and returns whether there is one. */
    boolean next() throws IOException {
        while (readHeader()) {
            char type = (char) header[156];
            if (type == 'L') {
                longName = text(content(MAX_NAME_BYTES), 0, (int) size);
            } else if (type == 'x') {
                var path = PAX_PATH.matcher(new String(content(MAX_NAME_BYTES), StandardCharsets.UTF_8));
                longName = path.find() ? path.group(1) : "";
            } else {
                name = longName.isEmpty() ? shortName() : longName;
                longName = "";
                requireInside();
                if (type == '0' || type == 0) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Returns the file's path in the archive. */
    String name() {
        return name;
    }

    /** Returns the whole file; to be called at most once for each. */
    byte[] content(int maxBytes) throws IOException {
        if (size > maxBytes) {
            throw problem(name + " has " + size + " bytes, more than " + maxBytes);
        }
        byte[] content = in.readNBytes((int) size);
        if (content.length < size) {
            throw new EOFException();
        }
        left -= size;
        return content;
    }

    private boolean readHeader() throws IOException {
        in.skipNBytes(left);
        int numRead = in.readNBytes(header, 0, RECORD_BYTES);
        if (numRead == 0 || isZero()) {
            return false;
        }
        if (numRead < RECORD_BYTES || !text(header, 257, 5).equals("ustar")) {
            throw problem("not a tar archive, gzip'd or not");
        }
        size = size();
        left = (size + RECORD_BYTES - 1) / RECORD_BYTES * RECORD_BYTES;
        return true;
    }

    private boolean isZero() {
        for (byte each : header) {
            if (each != 0) {
                return false;
            }
        }
        return true;
    }

    private long size() {
        String octal = text(header, 124, 12).strip();
        try {
            return Long.parseLong(octal, 8);
        } catch (NumberFormatException e) {
            throw problem("an entry's size is " + octal + ", which is not a number");
        }
    }

    private String shortName() {
        String prefix = text(header, 345, 155);
        return (prefix.isEmpty() ? "" : prefix + "/") + text(header, 0, 100);
    }

    /** A name that leaves the archive is a sign of one that was made to do harm, though nothing is unpacked here. */
    private void requireInside() {
        var parts = List.of(name.split("[/\\\\]", -1));
        if (parts.contains("..") || parts.get(0).isEmpty() || parts.get(0).endsWith(":")) {
            throw problem("has the entry " + name + ", which is not inside of it");
        }
    }

    private TraceException problem(String what) {
        return new TraceException(archive, what);
    }

    /** Returns a text that ends with a zero, if it is shorter than its field. */
    private static String text(byte[] bytes, int from, int length) {
        int end = from;
        while (end < from + length && bytes[end] != 0) {
            end++;
        }
        return new String(Arrays.copyOfRange(bytes, from, end), StandardCharsets.UTF_8);
    }
}
