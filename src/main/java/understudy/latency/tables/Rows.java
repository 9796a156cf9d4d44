package understudy.latency.tables;

import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;
import understudy.parquet.ParquetException;
import understudy.parquet.ParquetTable;

/** Rows of a table, and those of them whose columns have certain values; a column that it lacks has 0 everywhere. */
final class Rows {
    private static final String LATENCY = "latency";
    private static final double MICROS_PER_MILLI = 1e3;

    private final ParquetTable table;
    private final IntPredicate isWanted;

    private Rows(ParquetTable table, IntPredicate isWanted) {
        this.table = table;
        this.isWanted = isWanted;
    }

    /** Reads these columns and the times. */
    static Rows read(Path file, Set<String> columns) {
        var all = new HashSet<>(columns);
        all.add(LATENCY);
        try {
            return new Rows(ParquetTable.read(file, all), row -> true);
        } catch (ParquetException e) {
            throw new KernelDatabaseException(String.valueOf(e.getMessage()));
        }
    }

    boolean has(String column) {
        return table.has(column);
    }

    Rows where(String column, String text) {
        return new Rows(table, isWanted.and(row -> table.text(column, row).equals(text)));
    }

    Rows where(String column, double number) {
        return new Rows(table, isWanted.and(row -> number(column, row) == number));
    }

    /** Returns the rows whose text in a column has one of these parts, all of them if there are none. */
    Rows containing(String column, List<String> parts) {
        return parts.isEmpty()
                ? this
                : new Rows(
                        table,
                        isWanted.and(row ->
                                table.has(column) && parts.stream().anyMatch(table.text(column, row)::contains)));
    }

    void forEach(Consumer<Row> action) {
        for (int row = 0; row < table.numRows(); row++) {
            if (isWanted.test(row)) {
                action.accept(new Row(row));
            }
        }
    }

    /** Returns the times by a column, or null if there are no rows. */
    @Nullable Curve curve(String column) {
        var builder = new Curve.Builder();
        forEach(row -> builder.add(row.number(column), row.micros()));
        return builder.isEmpty() ? null : builder.build();
    }

    private double number(String column, int row) {
        return table.has(column) ? table.number(column, row) : 0;
    }

    /** One of the rows. */
    final class Row {
        private final int index;

        private Row(int index) {
            this.index = index;
        }

        double number(String column) {
            return Rows.this.number(column, index);
        }

        double micros() {
            double micros = table.number(LATENCY, index) * MICROS_PER_MILLI;
            if (micros > 0 && micros < Double.POSITIVE_INFINITY) {
                return micros;
            }
            throw new RejectedTableException("row " + index + " takes " + micros + " us");
        }
    }
}
