package understudy.workload.files;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.zip.GZIPOutputStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/** Archives, byte by byte, good and bad. */
public final class ArchiveBytes {
    static final int RECORD_BYTES = 512;

    private ArchiveBytes() {}

    /** Returns a tar archive of entries, with its end. */
    public static byte[] tar(byte[]... entries) {
        var out = new ByteArrayOutputStream();
        for (byte[] entry : entries) {
            out.writeBytes(entry);
        }
        out.writeBytes(new byte[2 * RECORD_BYTES]);
        return out.toByteArray();
    }

    /** Returns an entry of a tar archive: a header, and the content up to a full record. */
    public static byte[] entry(String name, char type, byte[] content) {
        byte[] entry = Arrays.copyOf(header(name, type, content.length), RECORD_BYTES + padded(content.length));
        System.arraycopy(content, 0, entry, RECORD_BYTES, content.length);
        return entry;
    }

    public static byte[] entry(String name, char type, String content) {
        return entry(name, type, bytes(content));
    }

    static byte[] header(String name, char type, long size) {
        var header = new byte[RECORD_BYTES];
        put(header, 0, name);
        put(header, 124, String.format("%011o", size));
        header[156] = (byte) type;
        put(header, 257, "ustar");
        putSum(header);
        return header;
    }

    /** Adds up the bytes of the header, with blanks in the place of the sum. */
    static void putSum(byte[] entry) {
        put(entry, 148, "        ");
        int sum = 0;
        for (int i = 0; i < RECORD_BYTES; i++) {
            sum += entry[i];
        }
        put(entry, 148, String.format("%06o\0 ", sum));
    }

    static void put(byte[] header, int at, String text) {
        byte[] bytes = bytes(text);
        System.arraycopy(bytes, 0, header, at, bytes.length);
    }

    /** Returns a zip archive of names and contents in turn. */
    public static byte[] zip(Object... namesAndContents) {
        var out = new ByteArrayOutputStream();
        try (var zip = new ZipOutputStream(out)) {
            for (int i = 0; i < namesAndContents.length; i += 2) {
                zip.putNextEntry(new ZipEntry((String) namesAndContents[i]));
                zip.write((byte[]) namesAndContents[i + 1]);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return out.toByteArray();
    }

    public static byte[] gzip(byte[] content) {
        var out = new ByteArrayOutputStream();
        try (var gzip = new GZIPOutputStream(out)) {
            gzip.write(content);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return out.toByteArray();
    }

    public static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static int padded(int length) {
        return (length + RECORD_BYTES - 1) / RECORD_BYTES * RECORD_BYTES;
    }
}
