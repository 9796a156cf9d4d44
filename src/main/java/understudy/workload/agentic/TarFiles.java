package understudy.workload.agentic;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import understudy.workload.trace.TraceException;
import understudy.workload.trace.TraceFile;

/**
 * Sessions in a tar archive, gzip'd or not, in the order of the archive. Knows the names of POSIX (ustar and pax) and
 * those of GNU; see <a href="https://www.gnu.org/software/tar/manual/html_node/Standard.html">Basic Tar Format</a>.
 */
final class TarFiles implements SessionFiles {
    private static final int BLOCK_BYTES = 512;
    private static final int MAX_NAME_BYTES = 1 << 20;
    private static final Pattern PAX_PATH = Pattern.compile("(?:^|\n)\\d+ path=([^\n]*)\n");

    private final Path archive;
    private final InputStream in;
    private final byte[] header = new byte[BLOCK_BYTES];
    private long numLeft;
    private int numPadding;

    TarFiles(Path archive) {
        this.archive = archive;
        in = TraceFile.open(archive);
    }

    @Override
    public @Nullable NamedInput next() throws IOException {
        String longName = null;
        while (readHeader()) {
            char type = (char) header[156];
            if (type == 'L' || type == 'x') {
                longName = longName(type);
                continue;
            }
            var name = longName == null ? shortName() : longName;
            longName = null;
            SessionNames.checkEntry(archive, name);
            if ((type == '0' || type == 0) && SessionNames.isSession(name)) {
                return new NamedInput(archive + "/" + name, new Entry());
            }
        }
        return null;
    }

    /** Reads the header of the next entry; returns false at the end. */
    private boolean readHeader() throws IOException {
        in.skipNBytes(numLeft + numPadding);
        int numRead = in.readNBytes(header, 0, BLOCK_BYTES);
        numLeft = 0;
        numPadding = 0;
        if (numRead == 0 || header[0] == 0) {
            return false;
        }
        if (numRead < BLOCK_BYTES || octal(148, 8) != checksum()) {
            throw new TraceException(archive.toString(), "is no tar archive, or damaged");
        }
        numLeft = octal(124, 12);
        numPadding = (int) (-numLeft & (BLOCK_BYTES - 1));
        return true;
    }

    private @Nullable String longName(char type) throws IOException {
        if (numLeft > MAX_NAME_BYTES) {
            throw new TraceException(archive.toString(), "has a name of " + numLeft + " bytes");
        }
        var text = new String(in.readNBytes((int) numLeft), StandardCharsets.UTF_8);
        numLeft = 0;
        if (type == 'L') {
            return text.replace("\0", "");
        }
        var path = PAX_PATH.matcher(text);
        return path.find() ? path.group(1) : null;
    }

    private String shortName() {
        boolean isUstar = text(257, 5).equals("ustar");
        var prefix = isUstar && header[263] == '0' ? text(345, 155) : "";
        return prefix.isEmpty() ? text(0, 100) : prefix + "/" + text(0, 100);
    }

    private String text(int from, int length) {
        int end = from;
        while (end < from + length && header[end] != 0) {
            end++;
        }
        return new String(header, from, end - from, StandardCharsets.UTF_8);
    }

    private long octal(int from, int length) {
        var digits = text(from, length).trim();
        try {
            return digits.isEmpty() ? 0 : Long.parseUnsignedLong(digits, 8);
        } catch (NumberFormatException e) {
            throw new TraceException(archive.toString(), "is no tar archive, or damaged");
        }
    }

    /** Adds up the bytes of the header, with blanks in the place of the sum itself. */
    private int checksum() {
        int sum = 0;
        for (int i = 0; i < BLOCK_BYTES; i++) {
            sum += i >= 148 && i < 156 ? ' ' : header[i] & 0xff;
        }
        return sum;
    }

    @Override
    public void close() throws IOException {
        in.close();
    }

    /** The content of the current entry. */
    private final class Entry extends InputStream {
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
