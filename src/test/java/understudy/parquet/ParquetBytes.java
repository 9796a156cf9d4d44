package understudy.parquet;

import io.airlift.compress.zstd.ZstdCompressor;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** Makes Parquet files: of one column, {@code latency} with the values 1.5 and 2.5, each part of which may be wrong. */
public final class ParquetBytes {
    private static final byte[] MAGIC = "PAR1".getBytes(StandardCharsets.ISO_8859_1);
    private static final long AS_IS = Long.MIN_VALUE;

    long numRows = 3;
    long numValues = 3;
    int numRowGroups = 1;
    int repetition = 1;
    int type = 5;
    int codec = 6;
    int dictionaryEncoding = 0;
    int dataEncoding = 8;
    long numDistinct = 2;
    long pageBytes = AS_IS;
    long compressedBytes = AS_IS;
    long columnBytes = AS_IS;
    /** Levels: one run of three ones. Indices: 1 bit each, packed, 0, 1, 1. */
    byte[] levels = {6, 1};

    byte[] indices = {1, 3, 0b110};

    /** Returns a table of columns of numbers ({@code double[]}) and of a single text each. */
    public static byte[] table(Map<String, Object> columns) {
        int numRows = columns.values().stream()
                .filter(double[].class::isInstance)
                .mapToInt(column -> ((double[]) column).length)
                .findFirst()
                .orElseThrow();
        var file = new ByteArrayOutputStream();
        file.writeBytes(MAGIC);
        var schema = new ArrayList<byte[]>(List.of(struct(4, "schema", 5, columns.size())));
        var chunks = new ArrayList<byte[]>();
        columns.forEach((name, values) -> {
            int type = values instanceof String ? 6 : 5;
            int start = file.size();
            file.writeBytes(pages(values, numRows));
            schema.add(struct(1, type, 3, 1, 4, name));
            chunks.add(struct(3, struct(1, type, 4, 6, 5, numRows, 7, file.size() - start, 9, 0, 11, start)));
        });
        var footer = struct(1, 1, 2, schema, 3, numRows, 4, List.of(struct(1, chunks, 3, numRows)));
        return join(file.toByteArray(), footer, littleEndian(footer.length), MAGIC);
    }

    /** A dictionary of as many values as there are rows, or of a text, and indices of 16 bits, or repeated. */
    private static byte[] pages(Object values, int numRows) {
        var numbers = values instanceof double[] array ? array : new double[0];
        var dictionary = ByteBuffer.allocate(Long.BYTES * numbers.length).order(ByteOrder.LITTLE_ENDIAN);
        Arrays.stream(numbers).forEach(dictionary::putDouble);
        int numGroups = (numRows + 7) / 8;
        var indices = ByteBuffer.allocate(16 * numGroups).order(ByteOrder.LITTLE_ENDIAN);
        IntStream.range(0, numRows).forEach(row -> indices.putShort((short) row));
        var ones = join(varint((long) numRows << 1), new byte[] {1});
        boolean isText = values instanceof String;
        var rows = isText
                ? join(new byte[] {1}, varint((long) numRows << 1), new byte[] {0})
                : join(new byte[] {16}, varint(((long) numGroups << 1) | 1), indices.array());
        var plain = values instanceof String text
                ? join(littleEndian(text.length()), text.getBytes(StandardCharsets.UTF_8))
                : dictionary.array();
        var parts = new ParquetBytes();
        return join(
                parts.page(2, 7, struct(1, isText ? 1 : numRows, 2, 0), plain),
                parts.page(0, 5, struct(1, numRows, 2, 8, 3, 3, 4, 3), join(littleEndian(ones.length), ones, rows)));
    }

    private static byte[] littleEndian(int number) {
        return ByteBuffer.allocate(4)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(number)
                .array();
    }

    byte[] build() {
        var dictionary = ByteBuffer.allocate(16)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putDouble(1.5)
                .putDouble(2.5)
                .array();
        var pages = join(
                page(2, 7, struct(1, numDistinct, 2, dictionaryEncoding), dictionary),
                page(
                        0,
                        5,
                        struct(1, numValues, 2, dataEncoding, 3, 3, 4, 3),
                        join(littleEndian(levels.length), levels, indices)));
        var footer = footer(columnBytes == AS_IS ? pages.length : columnBytes);
        return join(MAGIC, pages, footer, littleEndian(footer.length), MAGIC);
    }

    private byte[] footer(long numBytes) {
        var data = struct(1, type, 4, codec, 5, numValues, 7, numBytes, 9, 0, 11, MAGIC.length);
        var group = struct(1, List.of(struct(3, data)), 3, numRows);
        var groups = new byte[numRowGroups][];
        Arrays.fill(groups, group);
        var root = struct(4, "schema", 5, 1);
        var column = struct(1, type, 3, repetition, 4, "latency");
        return struct(1, 1, 2, List.of(root, column), 3, numRows, 4, List.of(groups));
    }

    private byte[] page(int pageType, int headerField, byte[] header, byte[] data) {
        var compressor = new ZstdCompressor();
        var target = new byte[compressor.maxCompressedLength(data.length)];
        int length = compressor.compress(data, 0, data.length, target, 0, target.length);
        long uncompressed = pageBytes == AS_IS ? data.length : pageBytes;
        long compressed = compressedBytes == AS_IS ? length : compressedBytes;
        return join(
                struct(1, pageType, 2, uncompressed, 3, compressed, headerField, header),
                Arrays.copyOf(target, length));
    }

    /** Returns a structure of Thrift's compact protocol, from numbers of fields, in order, and their values. */
    private static byte[] struct(Object... fields) {
        var out = new ByteArrayOutputStream();
        int last = 0;
        for (int i = 0; i < fields.length; i += 2) {
            int field = (Integer) fields[i];
            Object value = fields[i + 1];
            out.write(((field - last) << 4) | typeOf(value));
            out.writeBytes(encoded(value));
            last = field;
        }
        out.write(0);
        return out.toByteArray();
    }

    private static int typeOf(Object value) {
        return value instanceof Number ? 6 : value instanceof String ? 8 : value instanceof List ? 9 : 12;
    }

    private static byte[] encoded(Object value) {
        if (value instanceof Number number) {
            return varint((number.longValue() << 1) ^ (number.longValue() >> 63));
        }
        if (value instanceof String text) {
            return join(varint(text.length()), text.getBytes(StandardCharsets.UTF_8));
        }
        if (value instanceof List<?> list) {
            var elements = list.stream().map(element -> (byte[]) element).toArray(byte[][]::new);
            return join(new byte[] {(byte) 0xfc}, varint(elements.length), join(elements));
        }
        return (byte[]) value;
    }

    private static byte[] varint(long value) {
        var out = new ByteArrayOutputStream();
        long rest = value;
        for (; rest >>> 7 != 0; rest >>>= 7) {
            out.write((int) ((rest & 0x7f) | 0x80));
        }
        out.write((int) rest);
        return out.toByteArray();
    }

    private static byte[] join(byte[]... parts) {
        var out = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            out.writeBytes(part);
        }
        return out.toByteArray();
    }
}
