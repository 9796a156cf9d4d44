package understudy.parquet;

import java.util.Map;

/**
 * Place of a column's pages in a file, and their encoding.
 *
 * @param name of the column
 * @param type of its values
 * @param codec of its pages
 * @param numValues rows
 * @param start first byte of its dictionary
 * @param numBytes of all its pages
 */
record ColumnChunk(String name, Type type, Codec codec, long numValues, long start, long numBytes) {
    private static final int OPTIONAL = 1;

    /** Types of values, by their number in the format. */
    enum Type {
        INT64,
        DOUBLE,
        BYTE_ARRAY
    }

    /** Compression of pages, by its number in the format. */
    enum Codec {
        SNAPPY,
        ZSTD
    }

    private static final Map<Long, Type> TYPES = Map.of(2L, Type.INT64, 5L, Type.DOUBLE, 6L, Type.BYTE_ARRAY);
    private static final Map<Long, Codec> CODECS = Map.of(1L, Codec.SNAPPY, 6L, Codec.ZSTD);

    /** Reads a column's entry in the schema and in the row group. */
    static ColumnChunk of(ThriftStruct element, ThriftStruct chunk) {
        if (element.has(5)) {
            throw new Bytes.DamageException("it has columns within");
        }
        if (element.number(3) != OPTIONAL) {
            throw new Bytes.DamageException("its repetition is " + element.number(3) + ", not OPTIONAL (1)");
        }
        var data = chunk.struct(3);
        if (!data.has(11)) {
            throw new Bytes.DamageException("it has no dictionary");
        }
        return new ColumnChunk(
                element.text(4),
                known(TYPES, data.number(1), "type"),
                known(CODECS, data.number(4), "compression"),
                data.number(5),
                data.number(11),
                data.number(7));
    }

    private static <T> T known(Map<Long, T> all, long number, String what) {
        var found = all.get(number);
        if (found == null) {
            throw new Bytes.DamageException("its " + what + " is number " + number + " of the format, not of "
                    + all.values().stream().sorted().toList());
        }
        return found;
    }
}
