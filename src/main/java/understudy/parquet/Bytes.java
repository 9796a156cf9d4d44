package understudy.parquet;

import java.nio.charset.StandardCharsets;

/** A position in a range of bytes; reading beyond the range is a {@link DamageException}. */
final class Bytes {
    private static final int MAX_VARINT_BITS = 63;

    private final byte[] bytes;
    private final int end;
    private int position;

    /** A range that holds less than it says, or something else; who knows the file and the column names them. */
    static final class DamageException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        DamageException(String message) {
            super(message);
        }
    }

    Bytes(byte[] bytes, int start, int end) {
        this.bytes = bytes;
        this.position = start;
        this.end = end;
    }

    int position() {
        return position;
    }

    int remaining() {
        return end - position;
    }

    int readByte() {
        return bytes[skip(1)] & 0xff;
    }

    /** Returns an unsigned number in as many bytes, the lowest first, at most 8. */
    long littleEndian(int numBytes) {
        int start = skip(numBytes);
        long value = 0;
        for (int i = numBytes - 1; i >= 0; i--) {
            value = (value << Byte.SIZE) | (bytes[start + i] & 0xff);
        }
        return value;
    }

    long varint() {
        long value = 0;
        for (int shift = 0; shift <= MAX_VARINT_BITS; shift += 7) {
            int next = readByte();
            value |= (next & 0x7fL) << shift;
            if (next < 0x80) {
                return value;
            }
        }
        throw new DamageException("a number takes more than 64 bits");
    }

    /** Returns a count of things that take at least a byte each. */
    int count() {
        long count = varint();
        if (count < 0 || count > remaining()) {
            throw new DamageException("there are " + remaining() + " bytes for " + count + " elements");
        }
        return (int) count;
    }

    String text(int numBytes) {
        return new String(bytes, skip(numBytes), numBytes, StandardCharsets.UTF_8);
    }

    /** Passes over bytes, and returns where they began. */
    int skip(long numBytes) {
        if (numBytes < 0 || numBytes > remaining()) {
            throw new DamageException("it ends " + remaining() + " bytes on, where " + numBytes + " should follow");
        }
        int start = position;
        position += (int) numBytes;
        return start;
    }

    /** Takes the next bytes as a range of their own. */
    Bytes range(long numBytes) {
        int start = skip(numBytes);
        return new Bytes(bytes, start, position);
    }
}
