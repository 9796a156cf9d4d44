package understudy.workload;

import de.siegmar.fastcsv.reader.CsvParseException;
import de.siegmar.fastcsv.reader.CsvReader;
import de.siegmar.fastcsv.reader.NamedCsvRecord;
import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A CSV file with a header line, read row by row; what is wrong in it is reported with file and line. */
final class CsvTable implements Closeable {
    private final String file;
    private final CsvReader<NamedCsvRecord> reader;
    private final Iterator<NamedCsvRecord> rows;
    private @Nullable NamedCsvRecord row;

    CsvTable(Path path) {
        file = path.toString();
        reader = CsvReader.builder().ofNamedCsvRecord(TraceFile.open(path), StandardCharsets.UTF_8);
        rows = reader.iterator();
    }

    /** Goes to the next row, and returns whether there is one. */
    boolean next(List<String> requiredColumns) {
        try {
            if (!rows.hasNext()) {
                return false;
            }
            boolean isFirst = row == null;
            row = rows.next();
            if (isFirst) {
                requireColumns(requiredColumns);
            }
            return true;
        } catch (CsvParseException | UncheckedIOException e) {
            throw new TraceException(file, "not CSV: " + e.getMessage());
        }
    }

    /** Returns the text of a column, or an empty one if the file has no such column. */
    String text(String column) {
        return current().findField(column).orElse("").strip();
    }

    int wholeNumber(String column, int min) {
        String text = text(column);
        try {
            int number = Integer.parseInt(text);
            if (number >= min) {
                return number;
            }
        } catch (NumberFormatException e) {
            throw unusable(column, text, "a whole number of at least " + min);
        }
        throw unusable(column, text, "a whole number of at least " + min);
    }

    double seconds(String column) {
        String text = text(column);
        double seconds;
        try {
            seconds = Double.parseDouble(text);
        } catch (NumberFormatException e) {
            seconds = Double.NaN;
        }
        if (!(seconds >= 0 && seconds <= 1e9)) {
            throw unusable(column, text, "seconds from 0 to 1e9");
        }
        return seconds;
    }

    TraceException unusable(String column, String text, String allowed) {
        return problem(
                text.isEmpty()
                        ? column + " is missing, must be " + allowed
                        : column + " is " + text + ", must be " + allowed);
    }

    TraceException problem(String what) {
        return new TraceException(file, current().getStartingLineNumber(), what);
    }

    @Override
    public void close() {
        try {
            reader.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private NamedCsvRecord current() {
        if (row == null) {
            throw new IllegalStateException("no row yet");
        }
        return row;
    }

    private void requireColumns(List<String> required) {
        var header = current().getHeader();
        for (String column : required) {
            if (!header.contains(column)) {
                throw new TraceException(
                        file, 1, "no column " + column + "; the header has " + String.join(", ", header));
            }
        }
    }
}
