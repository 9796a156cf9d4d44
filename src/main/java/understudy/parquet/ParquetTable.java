package understudy.parquet;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/** Columns of a Parquet file, all in memory. */
public final class ParquetTable {
    private static final int MAX_FILE_BYTES = 64 << 20;
    private static final int MAX_FOOTER_BYTES = 1 << 20;
    private static final int MAX_ROWS = 1 << 20;
    private static final int MAGIC_BYTES = 4;
    private static final String MAGIC = "PAR1";

    private final String file;
    private final int numRows;
    private final Map<String, Column> columns = new HashMap<>();

    private ParquetTable(String file, int numRows) {
        this.file = file;
        this.numRows = numRows;
    }

    /**
     * Reads a file.
     *
     * @param wanted names of columns, of which those that the file lacks are left out
     * @throws ParquetException if the file or one of these columns cannot be read
     */
    public static ParquetTable read(Path file, Set<String> wanted) {
        String name = file.toString();
        var bytes = readBytes(file);
        return within(name, () -> read(name, bytes, wanted));
    }

    public int numRows() {
        return numRows;
    }

    public boolean has(String column) {
        return columns.containsKey(column);
    }

    /** Returns the text of a row; the column must have been read. */
    public String text(String column, int row) {
        var found = column(column);
        if (!found.isText()) {
            throw new ParquetException(file + ": column " + column + ": it has numbers, not text");
        }
        return found.text(row);
    }

    /** Returns the number of a row; the column must have been read. */
    public double number(String column, int row) {
        var found = column(column);
        if (found.isText()) {
            throw new ParquetException(file + ": column " + column + ": it has text, not numbers");
        }
        return found.number(row);
    }

    private Column column(String name) {
        var column = columns.get(name);
        if (column == null) {
            throw new ParquetException(file + ": column " + name + ": it is missing");
        }
        return column;
    }

    private static byte[] readBytes(Path file) {
        try {
            long size = Files.size(file);
            if (size > MAX_FILE_BYTES) {
                throw new ParquetException(file + ": it has " + size + " bytes, more than " + MAX_FILE_BYTES);
            }
            return Files.readAllBytes(file);
        } catch (IOException e) {
            throw new ParquetException(file + ": cannot be read: " + e.getMessage());
        }
    }

    private static <T> T within(String place, Supplier<T> reading) {
        try {
            return reading.get();
        } catch (Bytes.DamageException e) {
            throw new ParquetException(place + ": " + e.getMessage());
        }
    }

    private static ParquetTable read(String name, byte[] bytes, Set<String> wanted) {
        var footer = ThriftStruct.read(footer(bytes));
        var groups = footer.structs(4);
        if (groups.size() != 1) {
            throw new Bytes.DamageException("it has " + groups.size() + " row groups, not 1");
        }
        var chunks = groups.get(0).structs(1);
        var schema = footer.structs(2);
        long numRows = footer.number(3);
        if (numRows < 1 || numRows > MAX_ROWS || chunks.size() != schema.size() - 1) {
            throw new Bytes.DamageException("it has " + numRows + " rows, not 1 to " + MAX_ROWS + ", and "
                    + chunks.size() + " columns of " + (schema.size() - 1));
        }
        var table = new ParquetTable(name, (int) numRows);
        table.readColumns(bytes, schema.subList(1, schema.size()), chunks, wanted);
        return table;
    }

    private void readColumns(byte[] bytes, List<ThriftStruct> elements, List<ThriftStruct> chunks, Set<String> wanted) {
        for (int i = 0; i < chunks.size(); i++) {
            var element = elements.get(i);
            var chunk = chunks.get(i);
            String column = element.text(4);
            if (wanted.contains(column)) {
                columns.put(column, within(file + ": column " + column, () -> read(bytes, element, chunk)));
            }
        }
    }

    private Column read(byte[] bytes, ThriftStruct element, ThriftStruct entry) {
        var chunk = ColumnChunk.of(element, entry);
        if (chunk.numValues() != numRows) {
            throw new Bytes.DamageException(
                    "it has " + chunk.numValues() + " values, and the table " + numRows + " rows");
        }
        return new ColumnReader(bytes, chunk).read();
    }

    /** The file ends with a description, its length, and four letters, with which it begins, too. */
    private static Bytes footer(byte[] bytes) {
        int tail = bytes.length - MAGIC_BYTES - Integer.BYTES;
        if (tail < MAGIC_BYTES || !isMagic(bytes, 0) || !isMagic(bytes, bytes.length - MAGIC_BYTES)) {
            throw new Bytes.DamageException("it is not a whole Parquet file");
        }
        long length = new Bytes(bytes, tail, bytes.length).littleEndian(Integer.BYTES);
        if (length > Math.min(tail - MAGIC_BYTES, MAX_FOOTER_BYTES)) {
            throw new Bytes.DamageException("its description has " + length + " bytes");
        }
        return new Bytes(bytes, tail - (int) length, tail);
    }

    private static boolean isMagic(byte[] bytes, int start) {
        return new String(bytes, start, MAGIC_BYTES, StandardCharsets.ISO_8859_1).equals(MAGIC);
    }
}
