package understudy.workload.trace;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.regex.Pattern;

/**
 * The regular files of a tar archive, gzip'd or not, one after the other. Knows the names of POSIX (ustar and pax) and
 * those of GNU; see <a href="https://www.gnu.org/software/tar/manual/html_node/Standard.html">Basic Tar Format</a>.
 * Nothing is ever written to disk; links and devices are passed over.
 *
 * <p>Methods throw a {@link TraceException} if this is no archive, an entry points out of it, or it expands beyond all
 * measure.
 */
public final class TarInput implements Closeable {
    private static final int RECORD_BYTES = 512;
    private static final int MAX_NAME_BYTES = 1 << 16;
    private static final Pattern PAX_PATH = Pattern.compile("^\\d+ path=(.*)$", Pattern.MULTILINE);

    private final Path archive;
    private final InputStream in;
    private final byte[] header = new byte[RECORD_BYTES];
    private String name = "";
    private long numLeft;
    private int numPadding;

    /** Opens an archive before its first file. */
    public TarInput(Path archive) {
        this.archive = archive;
        in = TraceFile.openLimited(archive);
    }

    /** Goes to the next regular file, and returns whether there is one. */
    public boolean next() throws IOException {
        String longName = "";
        while (readHeader()) {
            char type = (char) header[156];
            if (type == 'L') {
                longName = longName().replace("\0", "");
            } else if (type == 'x') {
                var path = PAX_PATH.matcher(longName());
                longName = path.find() ? path.group(1) : "";
            } else {
                name = longName.isEmpty() ? shortName() : longName;
                longName = "";
                FilesOfTrace.requireInside(archive, name);
                if (type == '0' || type == 0) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Returns the file's path in the archive. */
    public String name() {
        return name;
    }

    /** Returns how many bytes of the file have not been read. */
    long numLeft() {
        return numLeft;
    }

    /** Returns what has not been read of the file, until the next one. */
    public InputStream content() {
        return new Content();
    }

    private boolean readHeader() throws IOException {
        in.skipNBytes(numLeft + numPadding);
        int numRead = in.readNBytes(header, 0, RECORD_BYTES);
        numLeft = 0;
        numPadding = 0;
        if (numRead == 0 || isZero()) {
            return false;
        }
        if (numRead < RECORD_BYTES || octal(148, 8) != checksum()) {
            throw damaged();
        }
        numLeft = octal(124, 12);
        numPadding = (int) (-numLeft & (RECORD_BYTES - 1));
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

    private String longName() throws IOException {
        if (numLeft > MAX_NAME_BYTES) {
            throw new TraceException(archive.toString(), "has a name of " + numLeft + " bytes");
        }
        return new String(content().readAllBytes(), StandardCharsets.UTF_8);
    }

    /** Only POSIX has a prefix; in GNU's headers something else stands there. */
    private String shortName() {
        boolean isPosix = text(257, 5).equals("ustar") && header[263] == '0';
        String prefix = isPosix ? text(345, 155) : "";
        return prefix.isEmpty() ? text(0, 100) : prefix + "/" + text(0, 100);
    }

    private long octal(int from, int length) {
        String digits = text(from, length).strip();
        try {
            return digits.isEmpty() ? 0 : Long.parseUnsignedLong(digits, 8);
        } catch (NumberFormatException e) {
            throw damaged();
        }
    }

    /** Adds up the bytes of the header, with blanks in the place of the sum itself. */
    private int checksum() {
        int sum = 0;
        for (int i = 0; i < RECORD_BYTES; i++) {
            sum += i >= 148 && i < 156 ? ' ' : header[i] & 0xff;
        }
        return sum;
    }

    private TraceException damaged() {
        return new TraceException(archive.toString(), "is no tar archive, or damaged");
    }

    /** Returns a text that ends with a zero, if it is shorter than its field. */
    private String text(int from, int length) {
        int end = from;
        while (end < from + length && header[end] != 0) {
            end++;
        }
        return new String(header, from, end - from, StandardCharsets.UTF_8);
    }

    @Override
    public void close() throws IOException {
        in.close();
    }

    private final class Content extends InputStream {
        @Override
        public int read() throws IOException {
            var one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] bytes, int offset, int length) throws IOException {
            if (numLeft == 0) {
                return -1;
            }
            int numRead = in.read(bytes, offset, (int) Math.min(length, numLeft));
            if (numRead < 0) {
                throw new EOFException();
            }
            numLeft -= numRead;
            return numRead;
        }
    }
}
