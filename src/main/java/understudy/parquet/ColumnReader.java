package understudy.parquet;

import io.airlift.compress.Decompressor;
import io.airlift.compress.MalformedInputException;
import io.airlift.compress.snappy.SnappyDecompressor;
import io.airlift.compress.zstd.ZstdDecompressor;

/** Reads the pages of one column: a plain dictionary, then indices into it. */
final class ColumnReader {
    private static final int MAX_PAGE_BYTES = 16 << 20;
    private static final int MAX_HEADER_BYTES = 64 << 10;
    private static final long MAX_EXACT = 1L << 53;
    private static final String[] NO_TEXTS = {};
    private static final double[] NO_NUMBERS = {};

    private static final int DATA_PAGE = 0;
    private static final int DICTIONARY_PAGE = 2;
    private static final int PLAIN = 0;
    private static final int RLE = 3;
    private static final int RLE_DICTIONARY = 8;

    private final byte[] file;
    private final ColumnChunk chunk;
    private final Decompressor decompressor;
    private int position;
    private final int end;

    ColumnReader(byte[] file, ColumnChunk chunk) {
        this.file = file;
        this.chunk = chunk;
        var pages = new Bytes(file, 0, file.length);
        pages.skip(chunk.start());
        position = pages.position();
        pages.skip(chunk.numBytes());
        end = pages.position();
        decompressor = chunk.codec() == ColumnChunk.Codec.ZSTD ? new ZstdDecompressor() : new SnappyDecompressor();
    }

    Column read() {
        var dictionary = nextPage(DICTIONARY_PAGE);
        var header = dictionary.header.struct(7);
        requireEncoding(header, 2, PLAIN);
        int numDistinct = size(header.number(1), dictionary.data.remaining(), "values of a dictionary");
        boolean isText = chunk.type() == ColumnChunk.Type.BYTE_ARRAY;
        var texts = isText ? texts(dictionary.data, numDistinct) : NO_TEXTS;
        var numbers = isText ? NO_NUMBERS : numbers(dictionary.data, numDistinct);
        return new Column(indices(numDistinct), texts, numbers);
    }

    private int[] indices(int numDistinct) {
        int numRows = (int) chunk.numValues();
        var indices = new int[numRows];
        int row = 0;
        while (row < numRows) {
            var page = nextPage(DATA_PAGE);
            var header = page.header.struct(5);
            requireEncoding(header, 2, RLE_DICTIONARY);
            requireEncoding(header, 3, RLE);
            int count = size(header.number(1), numRows - row, "rows of a page");
            var levels = new int[count];
            new HybridRuns(page.data.range(page.data.littleEndian(Integer.BYTES)), 1).read(levels, 0, count, 2);
            requireNoNulls(levels);
            new HybridRuns(page.data, page.data.readByte()).read(indices, row, count, numDistinct);
            row += count;
        }
        return indices;
    }

    private static void requireNoNulls(int[] levels) {
        for (int level : levels) {
            if (level == 0) {
                throw new Bytes.DamageException("it has nulls");
            }
        }
    }

    private static void requireEncoding(ThriftStruct header, int field, int wanted) {
        if (header.number(field) != wanted) {
            throw new Bytes.DamageException(
                    "a page has the encoding " + header.number(field) + " of the format, not " + wanted);
        }
    }

    private static int size(long number, int max, String what) {
        if (number < 1 || number > max) {
            throw new Bytes.DamageException("there are " + number + " " + what + ", not 1 to " + max);
        }
        return (int) number;
    }

    private record Page(ThriftStruct header, Bytes data) {}

    private Page nextPage(int type) {
        var headerBytes = new Bytes(file, position, Math.min(end, position + MAX_HEADER_BYTES));
        var header = ThriftStruct.read(headerBytes);
        if (header.number(1) != type) {
            throw new Bytes.DamageException("a page has the type " + header.number(1) + " of the format, not " + type);
        }
        int compressed = size(header.number(3), end - headerBytes.position(), "bytes of a compressed page");
        int uncompressed = size(header.number(2), MAX_PAGE_BYTES, "bytes of a page");
        position = headerBytes.position() + compressed;
        return new Page(
                header, new Bytes(decompress(headerBytes.position(), compressed, uncompressed), 0, uncompressed));
    }

    private byte[] decompress(int start, int compressed, int uncompressed) {
        var data = new byte[uncompressed];
        try {
            int length = decompressor.decompress(file, start, compressed, data, 0, uncompressed);
            if (length == uncompressed) {
                return data;
            }
            throw new Bytes.DamageException("a page has " + length + " bytes, not " + uncompressed);
        } catch (MalformedInputException | IllegalArgumentException | IndexOutOfBoundsException e) {
            throw new Bytes.DamageException("a page cannot be decompressed: " + e.getMessage());
        }
    }

    private static String[] texts(Bytes data, int count) {
        var texts = new String[count];
        for (int i = 0; i < count; i++) {
            texts[i] = data.text((int) Math.min(Integer.MAX_VALUE, data.littleEndian(Integer.BYTES)));
        }
        return texts;
    }

    private double[] numbers(Bytes data, int count) {
        var numbers = new double[count];
        for (int i = 0; i < count; i++) {
            long bits = data.littleEndian(Long.BYTES);
            numbers[i] = chunk.type() == ColumnChunk.Type.DOUBLE ? Double.longBitsToDouble(bits) : exact(bits);
        }
        return numbers;
    }

    private static double exact(long number) {
        if (Math.abs(number) > MAX_EXACT || number == Long.MIN_VALUE) {
            throw new Bytes.DamageException("the number " + number + " is beyond 2^53");
        }
        return number;
    }
}
